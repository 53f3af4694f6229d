/// Holds a delegate weakly, on behalf of a sendable object.
///
/// A delegate need not be sendable, so the compiler cannot see that this is safe. It is, since the box never uses the
/// delegate but hands it to jobs that run one at a time, whatever queue the app gave (a client has a queue of jobs for
/// that, a device a serial one that ends in the app's); since a weak reference may be taken on any thread; and since a
/// lock guards the closure that holds it. The app that reads a `delegate` property back gets what it put there, and uses
/// it where it may.
package final class DelegateBox<Delegate>: @unchecked Sendable {
    private let reference = Lock<() -> Delegate?>({ nil })

    package init() {}

    /// The delegate, if it is still there.
    package var delegate: Delegate? {
        reference.withLock { $0 }()
    }

    /// Keeps a closure that holds the delegate weakly.
    package func set(_ weakReference: @escaping () -> Delegate?) {
        reference.withLock { $0 = weakReference }
    }
}
