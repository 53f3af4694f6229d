internal import Glibc
package import OffhookBasics

/// One thread that tells all paced sources, tones, files and patterns alike, when their next frame is due.
///
/// Tick n of a source is due at its start plus n periods, computed anew for each n, so that nothing drifts. Handlers run
/// on the ticker's thread and must be short: what takes longer belongs on a queue.
package final class MediaTicker: @unchecked Sendable {
    /// The ticker that all sources share. Its thread starts with the first source and sleeps where there is none.
    package static let shared = MediaTicker()

    /// Names a started source.
    package struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Source {
        let ticket: Ticket
        let start: Instant
        let ticksPerSecond: Double
        let catchesUp: Bool
        var tick = 0
        let handler: @Sendable (_ tick: Int, _ due: Instant) -> Void

        var due: Instant { start + .nanoseconds(Int64(Double(tick) * 1e9 / ticksPerSecond)) }
    }

    // Mutex and condition live as long as the object at fixed addresses; everything below is touched with the mutex
    // held only, which is what makes the class safe to share. Handlers are called without it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var queue: [(due: Instant, ticket: Ticket)] = []
    private var sources: [Ticket: Source] = [:]
    private var lastNumber = 0
    private var isRunning = false

    private init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        changed = .allocate(capacity: 1)
        changed.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    /// Starts a source whose tick 0 is due at once.
    ///
    /// Where the machine was asleep or overloaded, a source that catches up gets its late ticks one after another, up to
    /// a second's worth; another one gets only the newest.
    package func start(
        ticksPerSecond: Double, catchesUp: Bool, handler: @escaping @Sendable (_ tick: Int, _ due: Instant) -> Void
    ) -> Ticket {
        precondition(ticksPerSecond > 0 && ticksPerSecond <= 10_000, "a source ticks 0 to 10,000 times a second")
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        let source = Source(
            ticket: ticket, start: MonotonicClock.now, ticksPerSecond: ticksPerSecond, catchesUp: catchesUp,
            handler: handler)
        sources[ticket] = source
        push((source.due, ticket))
        if !isRunning {
            isRunning = true
            startDetachedThread { self.run() }
        }
        pthread_cond_signal(changed)
        return ticket
    }

    /// Ends a source. A tick that is being handled on the ticker's thread may still be running afterwards.
    package func cancel(_ ticket: Ticket) {
        pthread_mutex_lock(mutex)
        // Its entry in the queue is passed over when it comes up. The handler is let go after the unlock.
        let source = sources.removeValue(forKey: ticket)
        pthread_mutex_unlock(mutex)
        withExtendedLifetime(source) {}
    }

    private func run() {
        pthread_mutex_lock(mutex)
        while true {
            guard let next = queue.first else {
                pthread_cond_wait(changed, mutex)
                continue
            }
            let now = MonotonicClock.now
            guard next.due <= now else {
                var deadline = timespec(
                    tv_sec: Int(next.due.nanoseconds / 1_000_000_000),
                    tv_nsec: Int(next.due.nanoseconds % 1_000_000_000))
                pthread_cond_timedwait(changed, mutex, &deadline)
                continue
            }
            pop()
            guard var source = sources[next.ticket] else { continue }
            let late = Int((now - next.due).inSeconds * source.ticksPerSecond)
            if source.catchesUp {
                if Double(late) > source.ticksPerSecond { source.tick += late }
            } else {
                source.tick += late
            }
            let (tick, due) = (source.tick, source.due)
            source.tick += 1
            sources[next.ticket] = source
            push((source.due, next.ticket))
            pthread_mutex_unlock(mutex)
            source.handler(tick, due)
            pthread_mutex_lock(mutex)
        }
    }

    // A binary heap, earliest first.
    private func push(_ entry: (due: Instant, ticket: Ticket)) {
        queue.append(entry)
        var child = queue.count - 1
        while child > 0, queue[child].due < queue[(child - 1) / 2].due {
            queue.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func pop() {
        queue.swapAt(0, queue.count - 1)
        queue.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < queue.count && queue[child].due < queue[least].due {
                least = child
            }
            guard least != parent else { return }
            queue.swapAt(parent, least)
            parent = least
        }
    }
}
