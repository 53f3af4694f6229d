internal import Glibc

/// Holds the sink of a source, and keeps the promise that once it has been changed the old one hears nothing more.
package final class SinkSlot<Sink: Sendable>: @unchecked Sendable {
    // Mutex and condition live as long as the object at fixed addresses; `state` is touched with the mutex held only,
    // which is what makes the class safe to share. The sink itself is called without it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let delivered: UnsafeMutablePointer<pthread_cond_t>
    private var sink: Sink?
    private var deliverer: pthread_t?

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        delivered = .allocate(capacity: 1)
        delivered.initialize(to: pthread_cond_t())
        pthread_cond_init(delivered, nil)
    }

    deinit {
        pthread_cond_destroy(delivered)
        delivered.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Whether there is a sink.
    package var isEmpty: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return sink == nil
    }

    /// Whether the caller is inside a delivery.
    package var isDeliveringOnThisThread: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return deliverer.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    /// Changes the sink and waits until a delivery to the old one has ended, unless called from within that delivery.
    package func set(_ new: Sink?) {
        pthread_mutex_lock(mutex)
        // The old sink is let go after the unlock, since its deinit may do anything.
        let old = sink
        sink = new
        while let thread = deliverer, pthread_equal(thread, pthread_self()) == 0 {
            pthread_cond_wait(delivered, mutex)
        }
        pthread_mutex_unlock(mutex)
        withExtendedLifetime(old) {}
    }

    /// Calls the sink, one delivery at a time; false where there is none.
    @discardableResult
    package func deliver(_ body: (Sink) -> Void) -> Bool {
        pthread_mutex_lock(mutex)
        while deliverer != nil { pthread_cond_wait(delivered, mutex) }
        guard let sink else {
            pthread_mutex_unlock(mutex)
            return false
        }
        deliverer = pthread_self()
        pthread_mutex_unlock(mutex)
        body(sink)
        pthread_mutex_lock(mutex)
        deliverer = nil
        pthread_cond_broadcast(delivered)
        pthread_mutex_unlock(mutex)
        return true
    }
}
