package import OffhookBasics

/// A timer of an event loop that can be armed again and again. It belongs to the loop's thread.
///
/// It keeps what its body captured: who owns a timer that captures its owner lets go of it when done.
package final class LoopTimer: @unchecked Sendable {
    private let loop: EventLoop
    /// Nil once the loop has ended, so that what it captured is let go.
    var body: (() -> Void)?
    /// Where the loop's heap has it; nil while it is not armed.
    var place: Int?

    init(loop: EventLoop, _ body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
    }

    package var isArmed: Bool { place != nil }

    /// Fires once at `deadline`, in place of when it was to fire before. The loop holds an armed timer.
    package func arm(at deadline: Instant) {
        loop.arm(self, at: deadline)
    }

    /// Does not fire any more until armed again.
    package func disarm() {
        loop.disarm(self)
    }
}
