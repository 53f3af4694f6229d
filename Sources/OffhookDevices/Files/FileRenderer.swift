internal import Dispatch
internal import OffhookBasics
public import OffhookMedia

/// Writes pictures to a file, upright: all of them to a `.y4m` file, the newest one to a `.png` file.
///
/// A PNG file is renewed once a second and by ``close()``. Received VP8 is kept as it came by ``IVFWriter`` instead, with no
/// decoding and coding in between.
public final class FileRenderer: VideoSink {
    private enum Output {
        case all(Y4MWriter)
        case newest(PNGWriter)
    }

    private struct State: @unchecked Sendable {
        // The writers are used with the lock around this value held only.
        let output: Output
        var newest: VideoFrame?
        var nextSnapshot = Instant(nanoseconds: .min)
        var isClosed = false
    }

    private let state: Lock<State>
    /// The newest picture that waits for the queue, which alone writes snapshots.
    private let waiting = Lock<VideoFrame?>(nil)
    private let queue = DispatchQueue(label: "offhook.snapshot", qos: .utility)

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: ends in `.y4m` or `.png`.
    ///   - frameRate: what a Y4M file says its rate is.
    public init(path: String, frameRate: Double = 30) throws(DeviceError) {
        if path.hasSuffix(".y4m") {
            state = Lock(State(output: .all(try Y4MWriter(path: path, frameRate: frameRate))))
        } else if path.hasSuffix(".png") {
            state = Lock(State(output: .newest(try PNGWriter(path: path))))
        } else {
            throw DeviceError(.notUnderstood, "\(path) must end in .y4m or .png.")
        }
    }

    /// The first trouble with writing, if there was any; pictures that came later were not kept.
    public var error: DeviceError? {
        state.withLock { state in
            switch state.output {
            case .all(let writer): writer.error
            case .newest(let writer): writer.error
            }
        }
    }

    /// How many pictures were written.
    public var frameCount: Int {
        state.withLock { state in
            switch state.output {
            case .all(let writer): writer.frameCount
            case .newest(let writer): writer.pictureCount
            }
        }
    }

    /// Takes a picture.
    public func handleVideoFrame(_ frame: VideoFrame) {
        if case .newest = kind {
            // Compression takes longer than a frame time, so that the media thread only leaves the picture here.
            let isFirst = waiting.withLock { waiting in
                defer { waiting = frame }
                return waiting == nil
            }
            if isFirst { queue.async { [self] in snapshot(isLast: false) } }
        } else {
            state.withLock { state in
                guard !state.isClosed, case .all(let writer) = state.output else { return }
                writer.write(frame)
            }
        }
    }

    private var kind: Output { state.withLock { $0.output } }

    private func snapshot(isLast: Bool) {
        let frame = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        state.withLock { state in
            guard !state.isClosed, case .newest(let writer) = state.output else { return }
            if let frame { state.newest = frame }
            let now = MonotonicClock.now
            guard let newest = state.newest, isLast || now >= state.nextSnapshot else { return }
            state.newest = nil
            state.nextSnapshot = now + .seconds(1)
            writer.write(newest)
        }
    }

    /// Writes what is left to write and closes the file. Pictures that come later are dropped.
    public func close() {
        if case .newest = kind { queue.sync { snapshot(isLast: true) } }
        state.withLock { state in
            state.isClosed = true
            switch state.output {
            case .all(let writer): writer.close()
            case .newest(let writer): writer.close()
            }
        }
    }
}
