internal import Dispatch
internal import OffhookBasics

/// The rules that sources of pictures and of sound have in common.
struct CapturerRules<Source: AnyObject & Sendable, Frame: Sendable> {
    /// What a frame is called in reports, in the plural.
    let frames: String
    /// Connects a source with a sink.
    let connect: @Sendable (Source, Tap<Frame>?) -> Void
    let captureTime: @Sendable (Frame) -> Instant

    var checks: [ConformanceCheck<Source>] { delivering + detaching + lettingGo }

    private var delivering: [ConformanceCheck<Source>] {
        [
            check("delivers", "Delivers \(frames) once it has a sink.") { source in
                let tap = Tap<Frame>()
                connect(source, tap)
                try await tap.wait(for: 3, as: frames)
                try await detach(source)
            },
            check("one at a time", "Delivers its \(frames) one after another, never two at once.") { source in
                // A sink that takes its time, so that a second delivery would meet the first.
                let tap = Tap<Frame>(onFrame: { _ in
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(20))
                })
                connect(source, tap)
                try await tap.wait(for: 10, as: frames)
                try await detach(source)
                guard tap.mostAtOnce == 1 else { throw BrokenRule("\(tap.mostAtOnce) came at once") }
            },
            check("capture times", "Delivers \(frames) in the order of their capture times, each once.") { source in
                let tap = Tap<Frame>(keeping: 10)
                connect(source, tap)
                // A second connection to the same sink is none.
                connect(source, tap)
                try await tap.wait(for: 10, as: frames)
                try await detach(source)
                let times = tap.frames.map(captureTime)
                guard zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }) else {
                    throw BrokenRule("the capture times were \(times.map(\.nanoseconds))")
                }
            },
            check("restart", "Delivers again when it gets a sink after it had none.") { source in
                for _ in 0..<3 {
                    let tap = Tap<Frame>()
                    connect(source, tap)
                    try await tap.wait(for: 2, as: "\(frames) after a restart")
                    try await detach(source)
                }
            },
        ]
    }

    private var detaching: [ConformanceCheck<Source>] {
        [
            check("idle", "May be detached when nothing was ever attached, more than once.") { source in
                try await detach(source)
                try await detach(source)
            },
            check("detached", "Delivers nothing to a sink once detaching it has returned.") { source in
                let first = Tap<Frame>()
                connect(source, first)
                try await first.wait(for: 3, as: frames)
                try await detach(source)
                first.close()
                try await outlast(source, first)
            },
            check("switching", "Delivers to the new sink alone once setting it has returned.") { source in
                let first = Tap<Frame>()
                connect(source, first)
                try await first.wait(for: 3, as: frames)
                let second = Tap<Frame>()
                try await returning("setting a sink") { connect(source, second) }
                first.close()
                try await second.wait(for: second.count + 5, as: "\(frames) for the second sink")
                try await detach(source)
                guard first.lateCount == 0 else { throw BrokenRule("\(first.lateCount) came to the old sink") }
            },
            check("detaching waits", "Detaching returns when the delivery that is under way has ended.") { source in
                let hasEnded = Lock(false)
                let begun = DispatchSemaphore(value: 0)
                let tap = Tap<Frame>(onFrame: { number in
                    guard number == 1 else { return }
                    begun.signal()
                    // Long enough for a detach that does not wait to have returned long before.
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(200))
                    hasEnded.withLock { $0 = true }
                })
                connect(source, tap)
                let wasOver = Lock(true)
                try await returning("detaching") {
                    begun.wait()
                    connect(source, nil)
                    wasOver.withLock { $0 = hasEnded.withLock { $0 } }
                }
                guard wasOver.withLock({ $0 }) else { throw BrokenRule("it returned during a delivery") }
            },
        ]
    }

    private var lettingGo: [ConformanceCheck<Source>] {
        [
            check("detached sinks", "Does not hold a sink that was detached.") { source in
                let gone: WeakReference
                do {
                    let tap = Tap<Frame>()
                    gone = WeakReference(tap)
                    connect(source, tap)
                    try await tap.wait(for: 2, as: frames)
                    try await detach(source)
                }
                try await eventually("it still holds the sink") { gone.isEmpty }
            },
            ConformanceCheck("letting go", "Goes away when nobody holds it any more, even while it delivers.") { make in
                let gone: WeakReference
                let tap = Tap<Frame>()
                do {
                    let source = try make()
                    gone = WeakReference(source)
                    connect(source, tap)
                    try await tap.wait(for: 2, as: frames)
                }
                try await eventually("something still holds it") { gone.isEmpty }
            },
        ]
    }

    // MARK: Parts of checks

    func check(
        _ name: String, _ rule: String, _ body: @escaping @Sendable (Source) async throws -> Void
    ) -> ConformanceCheck<Source> {
        ConformanceCheck(name, rule) { make in try await body(try make()) }
    }

    func detach(_ source: Source) async throws {
        let connect = connect
        try await returning("detaching") { connect(source, nil) }
    }

    /// Lets a source deliver for a while to another sink, and looks whether the old one hears of it.
    private func outlast(_ source: Source, _ old: Tap<Frame>) async throws {
        let next = Tap<Frame>()
        connect(source, next)
        try await next.wait(for: 5, as: frames)
        try await detach(source)
        guard old.lateCount == 0 else { throw BrokenRule("\(old.lateCount) came afterwards") }
    }
}
