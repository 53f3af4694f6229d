internal import CLinux
internal import Glibc
package import OffhookBasics

/// One thread that waits for sockets, timers and submitted work, and does them in turn.
///
/// It is the executor of the actor that owns what the sockets feed: a handler may `assumeIsolated` that actor. Nothing
/// that runs here may wait. ``shutdown()`` must be called once to end the thread; the loop stays alive until then.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // `queue` is locked; `state` and `packets` are touched by the loop's thread alone (and by `init` before it runs).
    private enum Job: Sendable {
        case closure(@Sendable () -> Void)
        case executor(UnownedJob)
    }

    private struct Queue {
        var jobs: [Job] = []
        var isAsleep = false
        var isStopping = false
        /// The thread has ended; work that still comes is done by short-lived threads, one at a time.
        var hasEnded = false
        var isLateThreadRunning = false
    }

    private let queue = Lock(Queue())
    private let epoll: Int32
    private let wakeDescriptor: Int32
    private let name: String
    private let thread = Lock<pthread_t?>(nil)
    private var sources = SourceTable()
    private var timers = TimerHeap()
    private var packets = PacketPool()
    let batch = ReceiveBatch()
    private var portTurn = 0
    /// The thread has closed everything; nothing can be watched or timed any more.
    private var hasClosed = false
    /// What stands in for the kernel in a simulation; nil where sockets and time are real.
    let kernel: SimulatedKernel?
    private let streamRoom = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private var lastIdentifier: UInt64 = 0

    /// Starts the thread.
    ///
    /// - Parameter kernel: what gives time and carries datagrams in a simulation; time passes by ``advance(upTo:)`` alone.
    package init(name: String = "offhook-loop", kernel: SimulatedKernel? = nil) throws(IOError) {
        self.name = name
        self.kernel = kernel
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw IOError(errno: errno, doing: "make an event loop") }
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wakeDescriptor >= 0 else {
            let code = errno
            Glibc.close(epoll)
            throw IOError(errno: code, doing: "make an event loop")
        }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: .max))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeDescriptor, &event)
        guard let started = Self.startThread({ self.run() }) else {
            Glibc.close(epoll)
            Glibc.close(wakeDescriptor)
            throw IOError(
                .system, code: EAGAIN, reason: "No thread can be started; raise the limit of processes (ulimit -u).")
        }
        thread.withLock { $0 = started }
    }

    deinit {
        streamRoom.deallocate()
    }

    /// The monotonic clock, or the simulation's, from any thread.
    package var now: Instant {
        kernel?.now ?? Self.now
    }

    /// The monotonic clock, from any thread.
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Whether the caller is on the loop's thread.
    package var isOnLoop: Bool {
        pthread_getspecific(Self.threadKey) == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs `job` on the loop's thread, after all that was submitted before. From any thread.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        enqueue(.closure(job))
    }

    /// Runs `body` on the loop's thread at `deadline` or as soon after it as the loop is free. On the loop's thread only.
    @discardableResult
    package func schedule(at deadline: Instant, _ body: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(loop: self, body)
        timer.arm(at: deadline)
        return timer
    }

    /// A timer to arm and disarm as often as needed without allocating. On the loop's thread only.
    package func makeTimer(_ body: @escaping () -> Void) -> LoopTimer {
        LoopTimer(loop: self, body)
    }

    /// An empty buffer of the loop's pool. On the loop's thread only.
    package func takePacket() -> PacketBuffer {
        assertOnLoop()
        return packets.take()
    }

    /// Gives a buffer back to the loop's pool. On the loop's thread only.
    package func give(_ packet: PacketBuffer) {
        assertOnLoop()
        packets.give(packet)
    }

    /// Does what was submitted so far, closes every socket, ends the thread and waits for its end. From any other thread.
    ///
    /// Timers do not fire any more and no handler is called. Jobs of actors that come later still run, so that no task
    /// hangs. Doing it twice is harmless.
    package func shutdown() {
        precondition(!isOnLoop, "call shutdown() from another thread than the loop's: it waits for the loop to end")
        queue.withLock { queue in
            queue.isStopping = true
            wakeIfAsleep(&queue)
        }
        guard let ending = thread.withLock({ thread in thread.take() }) else { return }
        pthread_join(ending, nil)
    }

    /// When the next timer fires. On the loop's thread only.
    package var nextDeadline: Instant? {
        assertOnLoop()
        return timers.nextDeadline
    }

    /// In a simulation, lets time pass to the next timer and fires it; gives false, with the time at `limit`, where no
    /// timer is due by then. On the loop's thread only.
    package func advance(upTo limit: Instant) -> Bool {
        assertOnLoop()
        guard let kernel else { return false }
        guard let next = timers.nextDeadline, next <= limit else {
            kernel.setNow(limit)
            return false
        }
        kernel.setNow(next)
        fireTimers()
        return true
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.executor(UnownedJob(job)))
    }

    package func checkIsolated() {
        precondition(isOnLoop, "this belongs to the thread of its event loop")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        isOnLoop
    }

    // MARK: What sockets of this module use

    func assertOnLoop() {
        precondition(
            isOnLoop, "sockets and timers belong to the thread of their event loop; use submit(_:) to get there")
    }

    func nextIdentifier() -> UInt64 {
        lastIdentifier += 1
        return lastIdentifier
    }

    func nextPortTurn() -> Int {
        assertOnLoop()
        portTurn &+= 1
        return portTurn & 0xFFFF
    }

    /// Room that streams read into, until the body returns.
    func withStreamRoom<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        assertOnLoop()
        return body(streamRoom)
    }

    /// Watches a descriptor; the loop holds the source until it is removed.
    func add(_ source: any LoopSource, descriptor: Int32, interest: Interest) throws(IOError) -> SourceID {
        assertOnLoop()
        guard !hasClosed else { throw IOError(.closed, reason: "The event loop was shut down; make a new one.") }
        let id = sources.insert(source)
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id.rawValue))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            let code = errno
            sources.remove(id)
            throw IOError(errno: code, doing: "watch a socket")
        }
        return id
    }

    func update(_ id: SourceID, descriptor: Int32, interest: Interest) {
        assertOnLoop()
        guard !hasClosed else { return }
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id.rawValue))
        epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
    }

    /// Forgets a descriptor, which the caller then closes.
    func remove(_ id: SourceID, descriptor: Int32) {
        assertOnLoop()
        guard !hasClosed else { return }
        var event = epoll_event()
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
        sources.remove(id)
    }

    func arm(_ timer: LoopTimer, at deadline: Instant) {
        assertOnLoop()
        guard !hasClosed else { return }
        timers.arm(timer, at: deadline)
    }

    func disarm(_ timer: LoopTimer) {
        assertOnLoop()
        timers.disarm(timer)
    }

    // MARK: The thread

    private func enqueue(_ job: Job) {
        let mustStartThread = queue.withLock { queue in
            queue.jobs.append(job)
            wakeIfAsleep(&queue)
            let mustStart = queue.hasEnded && !queue.isLateThreadRunning
            if mustStart { queue.isLateThreadRunning = true }
            return mustStart
        }
        if mustStartThread {
            let started = Self.startThread { self.runLate() }
            if let started { pthread_detach(started) } else { runLate() }
        }
    }

    /// Done under the lock: the descriptor is closed once the queue says that the thread has ended.
    private func wakeIfAsleep(_ queue: inout Queue) {
        guard queue.isAsleep else { return }
        queue.isAsleep = false
        var one: UInt64 = 1
        // Can only fail where the counter is full, and then the loop wakes anyway.
        _ = write(wakeDescriptor, &one, 8)
    }

    private func run() {
        pthread_setspecific(Self.threadKey, Unmanaged.passUnretained(self).toOpaque())
        clinux_name_thread(name)
        let capacity = 256
        let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
        defer { events.deallocate() }
        var jobs: [Job] = []
        var isStopping = false
        while !isStopping {
            fireTimers()
            runJobs(&jobs)
            let timeout = timers.nextDeadline.map { wait(until: $0) } ?? -1
            // Who submits after this finds us asleep and wakes us.
            let maySleep = queue.withLock { queue in
                isStopping = queue.isStopping && queue.jobs.isEmpty
                queue.isAsleep = queue.jobs.isEmpty && !queue.isStopping && timeout != 0
                return queue.isAsleep
            }
            if isStopping { break }
            let count = clinux_wait(epoll, events, Int32(capacity), maySleep ? timeout : 0)
            for index in 0..<max(0, Int(count)) {
                let id = events[index].data.u64
                if id == .max {
                    var counter: UInt64 = 0
                    _ = read(wakeDescriptor, &counter, 8)
                } else {
                    sources[SourceID(rawValue: id)]?.loopDidSignal(Interest(rawValue: events[index].events))
                }
            }
        }
        end(&jobs)
    }

    /// Nanoseconds to sleep; for ever (-1) where time is a simulation's, which wakes the loop when it moves on.
    private func wait(until deadline: Instant) -> Int64 {
        let duration = max(0, (deadline - now).inNanoseconds)
        return kernel == nil || duration == 0 ? duration : -1
    }

    private func fireTimers() {
        guard let first = timers.nextDeadline else { return }
        let now = now
        guard first <= now else { return }
        let newest = timers.newestOrder
        while let timer = timers.takeDue(at: now, armedBefore: newest) { timer.body?() }
    }

    private func runJobs(_ jobs: inout [Job]) {
        queue.withLock { queue in
            queue.isAsleep = false
            if !queue.jobs.isEmpty { swap(&queue.jobs, &jobs) }
        }
        guard !jobs.isEmpty else { return }
        for job in jobs { perform(job) }
        jobs.removeAll(keepingCapacity: true)
    }

    private func perform(_ job: Job) {
        kernel?.countActivity()
        switch job {
        case .closure(let body): body()
        case .executor(let job):
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }

    private func end(_ jobs: inout [Job]) {
        hasClosed = true
        for source in sources.removeAll() { source.loopDidEnd() }
        kernel?.end()
        timers.removeAll()
        packets = PacketPool()
        Glibc.close(epoll)
        // What comes from now on goes to late threads, which see all that this thread did.
        var isDone = false
        while !isDone {
            runJobs(&jobs)
            isDone = queue.withLock { queue in
                queue.hasEnded = queue.jobs.isEmpty
                return queue.hasEnded
            }
        }
        Glibc.close(wakeDescriptor)
    }

    /// Work that came after the end: tasks of an actor on this loop must not hang.
    private func runLate() {
        let before = pthread_getspecific(Self.threadKey)
        pthread_setspecific(Self.threadKey, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.threadKey, before) }
        var jobs: [Job] = []
        var isDone = false
        while !isDone {
            runJobs(&jobs)
            isDone = queue.withLock { queue in
                queue.isLateThreadRunning = !queue.jobs.isEmpty
                return queue.jobs.isEmpty
            }
        }
    }

    /// Says which loop the current thread runs.
    private static let threadKey: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key, nil)
        precondition(status == 0, "the process has no thread-specific key left")
        return key
    }()

    private final class Start: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        let start = Unmanaged.passRetained(Start(body: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        if status != 0 { start.release() }
        return status == 0 ? thread : nil
    }
}
