internal import Dispatch
public import Offhook
internal import OffhookBasics

/// The rules that every ``VideoSink`` must keep.
public enum VideoSinkConformance {
    /// One check for each rule.
    public static func checks<Sink: VideoSink>(for type: Sink.Type) -> [ConformanceCheck<Sink>] {
        [
            ConformanceCheck("in time", "Returns within a frame time, judged by the fastest of 30 pictures.") { make in
                let sink = try make()
                let fastest = Lock(Duration.seconds(1000))
                try await deliver(Picture.several(30, VideoSize(width: 320, height: 240)), to: sink) { took in
                    fastest.withLock { $0 = min($0, took) }
                }
                let time = fastest.withLock { $0 }
                guard time <= .milliseconds(33) else { throw BrokenRule("it took \(time)") }
            },
            ConformanceCheck("odd sizes", "Takes pictures whose width and height are odd, down to one pixel.") { make in
                for size in [(161, 121), (17, 1), (1, 17), (1, 1)] {
                    let sink = try make()
                    try await deliver(Picture.several(2, VideoSize(width: size.0, height: size.1)), to: sink)
                }
            },
            ConformanceCheck("size changes", "Takes pictures whose size changes from one to the next.") { make in
                let sizes = [(320, 240), (640, 480), (160, 90), (91, 161), (320, 240)]
                let frames = sizes.enumerated().map { Picture.make($0, VideoSize(width: $1.0, height: $1.1)) }
                try await deliver(frames, to: try make())
            },
            ConformanceCheck("pixel formats", "Takes I420 and NV12, and a change from one to the other.") { make in
                let size = VideoSize(width: 176, height: 144)
                let formats: [PixelFormat] = [.i420, .nv12, .nv12, .i420]
                let frames = formats.enumerated().map { Picture.make($0, size, pixelFormat: $1) }
                try await deliver(frames, to: try make())
            },
            ConformanceCheck("rotation", "Takes pictures that are turned, of any quarter.") { make in
                let size = VideoSize(width: 177, height: 144)
                let frames = VideoRotation.allCases.enumerated().map { Picture.make($0, size, rotation: $1) }
                try await deliver(frames, to: try make())
            },
            ConformanceCheck("threads", "Takes pictures on any thread, one after another.") { make in
                let sink = try make()
                for frame in Picture.several(8, VideoSize(width: 160, height: 120)) {
                    // A queue of its own each time, and so in general another thread.
                    try await deliver([frame], to: sink)
                }
            },
            ConformanceCheck("gaps", "Takes pictures after a pause, and with capture times that leap or repeat.") {
                make in
                let size = VideoSize(width: 160, height: 120)
                let times: [Int64] = [0, 33, 33, 60_000, 33, 0, 86_400_000]
                let frames = times.enumerated().map { Picture.make($0, size, milliseconds: $1) }
                try await deliver(frames, to: try make())
            },
            ConformanceCheck("untouched pixels", "Leaves the pixels of a picture as they are.") { make in
                let frames = Picture.several(3, VideoSize(width: 161, height: 120))
                let before = frames.map(Picture.checksum)
                try await deliver(frames, to: try make())
                guard frames.map(Picture.checksum) == before else { throw BrokenRule("the pixels have changed") }
            },
            ConformanceCheck(
                "borrowed pictures", "Holds two pictures at most: the newest, and one that it is at work on."
            ) { make in
                let sink = try make()
                let living = Lock(0)
                for number in 0..<12 {
                    let frame = Picture.counted(number, living)
                    try await deliver([frame], to: sink)
                }
                try await eventually("it holds \(living.withLock { $0 }) of 12 pictures") {
                    living.withLock { $0 } <= 2
                }
                withExtendedLifetime(sink) {}
            },
            ConformanceCheck("letting go", "Goes away when nobody holds it any more, with every picture.") { make in
                let living = Lock(0)
                let gone: WeakReference
                do {
                    let sink = try make()
                    gone = WeakReference(sink)
                    for number in 0..<3 { try await deliver([Picture.counted(number, living)], to: sink) }
                }
                try await eventually("something still holds it") { gone.isEmpty }
                try await eventually("\(living.withLock { $0 }) pictures are left behind") {
                    living.withLock { $0 } == 0
                }
            },
        ]
    }

    /// Hands pictures over one after another, on a thread that is no other's.
    private static func deliver(
        _ frames: [VideoFrame], to sink: some VideoSink, took: (@Sendable (Duration) -> Void)? = nil
    ) async throws {
        try await returning("handleVideoFrame(_:)") {
            for frame in frames {
                let start = ContinuousClock.now
                sink.handleVideoFrame(frame)
                took?(ContinuousClock.now - start)
            }
        }
    }
}

/// A weak reference that a closure on another thread may ask.
struct WeakReference: @unchecked Sendable {
    // Only read, which the runtime makes safe for weak references on any thread.
    private weak var object: AnyObject?

    init(_ object: AnyObject?) {
        self.object = object
    }

    var isEmpty: Bool { object == nil }
}
