internal import Glibc

/// A mutual-exclusion lock around a value that several threads read or change.
///
/// `Synchronization.Mutex` keeps its lock in a runtime that the thread sanitizer cannot see into; this one it can.
public final class Lock<Value>: @unchecked Sendable {
    // Both live as long as the object, at fixed addresses; `value` is touched between lock and unlock only, which is
    // what makes the class safe to share.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Guards a value.
    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` on the value while no other thread does; it must not wait or call out.
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
