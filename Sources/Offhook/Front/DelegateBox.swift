internal import OffhookBasics

/// Holds a delegate weakly, on behalf of a sendable object.
///
/// A delegate need not be sendable, so the compiler cannot see that this is safe. It is, since the box never uses the
/// delegate but hands it to jobs of the ``DelegateQueue``, which run on the app's queue one at a time; and since a weak
/// reference may be taken on any thread. The app that reads a `delegate` property back gets what it put there, and uses
/// it where it may.
final class DelegateBox<Delegate>: @unchecked Sendable {
    private let reference = Lock<() -> Delegate?>({ nil })

    /// The delegate, if it is still there.
    var delegate: Delegate? {
        reference.withLock { $0 }()
    }

    /// Keeps a closure that holds the delegate weakly.
    func set(_ weakReference: @escaping () -> Delegate?) {
        reference.withLock { $0 = weakReference }
    }
}
