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
    public func settle() async {
        var quietRounds = 0
        while quietRounds < 2 {
            let before = kernel.activityCount
            await CodecPool.shared.drained()
            let waiting = state.withLock { $0.hosts.map(\.client) }.filter(\.hasNewsBacklog)
            for client in waiting { await Self.turn(of: client) }
            // What delegates began gets its turn; more of them when they were told something.
            for _ in 0..<(waiting.isEmpty ? 2 : 16) { await Task.yield() }
            await onLoop {}
            // The barrier above is the loop's only work in a quiet round.
            quietRounds = waiting.isEmpty && kernel.activityCount == before + 1 ? quietRounds + 1 : 0
        }
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

    /// Goes to the next moment something is due at; false where that is later than `limit`, which it then is.
    private func step(upTo limit: Instant) async -> Bool {
        await onLoop { [loop] in loop.advance(upTo: limit) }
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in loop.submit { continuation.resume(returning: body()) } }
    }

    private static func turn(of client: Client) async {
        await withCheckedContinuation { continuation in
            client.callbackQueue.async(flags: .barrier) { continuation.resume() }
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
