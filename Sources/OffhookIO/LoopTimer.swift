package import OffhookBasics

/// A timer of an event loop that can be armed again and again. It belongs to the loop's thread.
package final class LoopTimer: @unchecked Sendable {
    private let loop: EventLoop
    let body: () -> Void
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
