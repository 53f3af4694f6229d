internal import Dispatch
public import Offhook
internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookIO

/// How time passes.
extension SimulatedNetwork {
    /// How much time has passed since the network was made.
    public var elapsed: Duration { kernel.now - Self.start }

    /// What the clients' clock says, for the capture time of frames that a test makes.
    public var now: Instant { kernel.now }

    /// Lets time pass, doing all that falls due.
    public func advance(by duration: Duration) async {
        let end = kernel.now + duration
        await settle()
        while await step(upTo: end) { await settle() }
        await settle()
    }

    /// Lets time pass until `body` returns, as a command does when the far end has answered.
    ///
    /// - Throws: what `body` throws, or ``SimulatedTimeout`` when it takes longer than `limit`.
    public func run<Value: Sendable>(
        upTo limit: Duration = .seconds(300), _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let end = kernel.now + limit
        let outcome = begin(body)
        await settle()
        while true {
            if let result = outcome.withLock({ $0 }) { return try result.get() }
            guard kernel.now < end else { throw SimulatedTimeout(limit: limit, seed: seed) }
            _ = await step(upTo: end)
            await settle()
        }
    }

    /// The same for what cannot fail; it has all the time there is.
    func drive(_ body: @escaping @Sendable () async -> Void) async {
        let outcome = begin(body)
        await settle()
        while outcome.withLock({ $0 }) == nil {
            _ = await step(upTo: kernel.now + .seconds(1))
            await settle()
        }
    }

    /// Waits, without time passing, until nothing happens any more: delegates have been told, codecs are done.
    ///
    /// What the app's own tasks do is not known here. They get the processor after each piece of news, and while a long
    /// silence passes, which is what they need to call the client again.
    public func settle() async {
        var quietRounds = 0
        while quietRounds < 2 {
            let before = kernel.activityCount
            await CodecPool.shared.drained()
            let hasNews = await newsIsTold()
            for _ in 0..<2 { await Task.yield() }
            await onLoop {}
            // The line above is the loop's only work in a quiet round.
            quietRounds = !hasNews && kernel.activityCount == before + 1 ? quietRounds + 1 : 0
        }
    }

    /// Waits until delegates have been told all; whether there was anything to tell.
    private func newsIsTold() async -> Bool {
        let clients = state.withLock { $0.hosts.compactMap(\.client) }
        var count = 0
        for client in clients {
            while !client.newsProgress.isDone { await Self.turn(of: client.callbackQueue) }
            count += client.newsProgress.count
        }
        let hasNews = state.withLock { state in
            defer { state.newsCount = count }
            return state.newsCount != count
        }
        // A moment in which this thread wants nothing, so that the system runs the tasks that delegates have begun.
        for _ in 0..<(hasNews ? 2 : 0) { await Self.turn(of: .global(), after: .milliseconds(1)) }
        return hasNews
    }

    // MARK: Steps

    /// Starts a body on the loop's thread, where it and the clients take turns; what comes of it is there in the end.
    private func begin<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Lock<Result<Value, any Error>?> {
        let outcome = Lock<Result<Value, any Error>?>(nil)
        Task(executorPreference: loop) {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
        }
        return outcome
    }

    /// Goes to the next moment something is due at, or part of the way there where it is far; false where `limit` is
    /// reached.
    private func step(upTo limit: Instant) async -> Bool {
        await onLoop { [loop] in
            let gap = min(loop.nextDeadline ?? limit, limit) - loop.now
            let stride = max(Self.shortStride, gap / 200)
            guard gap > stride else { return loop.advance(upTo: limit) }
            _ = loop.advance(upTo: loop.now + stride)
            return true
        }
    }

    /// Shorter silences than this pass at once.
    private static let shortStride = Duration.milliseconds(20)

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in loop.submit { continuation.resume(returning: body()) } }
    }

    private static func turn(of queue: DispatchQueue, after delay: DispatchTimeInterval = .nanoseconds(0)) async {
        await withCheckedContinuation { continuation in
            queue.asyncAfter(deadline: .now() + delay, flags: .barrier) { continuation.resume() }
        }
    }
}

/// What ``SimulatedNetwork/run(upTo:_:)`` waited for did not happen in time.
public struct SimulatedTimeout: Error, CustomStringConvertible {
    /// How long it waited, in the network's time.
    public let limit: Duration
    /// The network's seed.
    public let seed: UInt64

    /// As in `nothing came of it within 300.0 seconds of simulated time (seed 1)`.
    public var description: String { "nothing came of it within \(limit) of simulated time (seed \(seed))" }
}
