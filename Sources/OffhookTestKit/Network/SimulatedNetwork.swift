public import Dispatch
public import Offhook
internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookIO

/// A network that exists in memory, with clients on it, where time passes when the test says so.
///
/// The clients are real ones but for the kernel: their UDP sockets lead into this network, and their clock stands still
/// until ``advance(by:)`` or ``run(upTo:_:)`` moves it. What the network does to datagrams follows from its seed.
///
/// ```swift
/// let network = SimulatedNetwork(seed: 1)
/// let alice = try network.makeClient(named: "alice")
/// let bob = try network.makeClient(named: "bob")
/// let caller = try alice.createUser(UserConfiguration(address: "sip:alice@alice.test"))
/// let callee = try bob.createUser(UserConfiguration(address: "sip:bob@bob.test"))
/// callee.callService.delegate = receptionist
/// try await network.run {
///     try await caller.start()
///     try await callee.start()
/// }
///
/// let call = try caller.callService.createCall(to: "sip:bob@bob.test")
/// try await network.run { try await call.start() }
/// await network.advance(by: .seconds(10))
/// call.end()
/// await network.advance(by: .seconds(1))
/// await network.shutdown()
/// ```
///
/// Codecs, devices and the tasks of an app still run on the machine's threads. Before time moves on, the network waits
/// for the codecs and for the news that delegates are told, and gives the app's tasks their turn; what a task does later
/// it does later in the network's time too. What runs inside ``run(upTo:_:)`` is waited for in any case. There is no
/// TCP, no TLS and no name server: the client named `alice` is the host `alice.test`.
public final class SimulatedNetwork: Sendable {
    struct Host {
        var name: String
        var address: IPAddress
        /// Nil for what is no client, as an exchange.
        var client: Client?
        var isConnected = true
        /// When the line out is free again.
        var isFreeAt: Instant
    }

    struct State {
        /// Dice of their own for messages, so that these fare alike however the machine's codecs time the media.
        var signalingRandom: SeededRandom
        var mediaRandom: SeededRandom
        var conditions: NetworkConditions
        var hosts: [Host] = []
        var rule: (@Sendable (SimulatedDatagram) -> Bool)?
        var signalingCount = 0
        var mediaCount = 0
        var lostCount = 0
        /// The newest arrival between two hosts, which jitter does not overtake.
        var newestArrival: [Path: Instant] = [:]
        /// How much news there was when all of it had last been told.
        var newsCount = 0
        var isShutDown = false
    }

    struct Path: Hashable {
        var source: IPAddress
        var destination: IPAddress
    }

    /// What the network's dice follow from; print it where a test fails.
    public let seed: UInt64

    static let signalingPort: UInt16 = 5060
    static let start = Instant(nanoseconds: 1_000_000_000_000)
    let state: Lock<State>
    let kernel: SimulatedKernel
    let loop: EventLoop

    /// Makes a network without clients.
    public init(seed: UInt64, conditions: NetworkConditions = NetworkConditions()) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        state = Lock(
            State(
                signalingRandom: SeededRandom(seed: random.next()), mediaRandom: SeededRandom(seed: random.next()),
                conditions: conditions))
        let kernel = SimulatedKernel(startingAt: Self.start)
        self.kernel = kernel
        do throws(IOError) {
            loop = try EventLoop(name: "offhook-sim", kernel: kernel)
        } catch {
            fatalError("a simulated network needs a thread and two descriptors: \(error.reason)")
        }
        loop.submit { [weak self] in self?.connectKernel() }
    }

    deinit {
        let loop = loop
        // The loop waits for its thread, which may be the one that lets go of us.
        if !state.withLock({ $0.isShutDown }) { DispatchQueue.global().async { loop.shutdown() } }
    }

    private func connectKernel() {
        kernel.transmit = { [weak self] bytes, source, destination in
            self?.transmit(bytes, from: source, to: destination)
        }
        kernel.addresses = { [weak self] host in
            self?.state.withLock { state in
                state.hosts.first { "\($0.name).test" == host.lowercased() }.map { [$0.address] }
            } ?? []
        }
    }

    // MARK: Clients

    /// Makes a client that lives on this network as the host `name.test`, with UDP port 5060.
    ///
    /// - Parameters:
    ///   - name: letters, digits and hyphens, as in a host name; every client has another.
    ///   - configuration: its settings. Where it listens and by which transports is the network's to say.
    ///   - callbackQueue: where its delegates are called; nil for a queue of its own. Give `.main` for delegates of the
    ///     main actor.
    /// - Throws: `invalidArgument` where the name is taken or no host name.
    public func makeClient(
        named name: String, configuration: ClientConfiguration = ClientConfiguration(),
        callbackQueue: DispatchQueue? = nil
    ) throws(CallError) -> Client {
        let address = try addHost(named: name)
        var configuration = configuration
        configuration.bindAddress = address
        configuration.port = Self.signalingPort
        configuration.transports = [.udp]
        let queue = callbackQueue ?? DispatchQueue(label: "offhook.simulated.\(name)")
        let number = state.withLock { UInt64($0.hosts.count) }
        let client = Client(
            configuration: configuration, callbackQueue: queue, on: loop, seed: seed &+ number << 32)
        state.withLock { state in
            guard let index = state.hosts.firstIndex(where: { $0.address == address }) else { return }
            state.hosts[index].client = client
        }
        return client
    }

    /// Gives a host an address of its own.
    func addHost(named name: String) throws(CallError) -> IPAddress {
        let name = name.lowercased()
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
            throw CallError(.invalidArgument, "“\(name)” is no name for a host: use letters, digits and hyphens.")
        }
        let now = kernel.now
        let address = state.withLock { state -> IPAddress? in
            guard !state.hosts.contains(where: { $0.name == name }) else { return nil }
            // RFC 2544's network for tests between devices, so that no address of the machine is meant.
            let address = IPAddress(version4: 0xC612_0001 + UInt32(state.hosts.count))
            state.hosts.append(Host(name: name, address: address, isFreeAt: now))
            return address
        }
        guard let address else { throw CallError(.invalidArgument, "The network has a host named “\(name)” already.") }
        return address
    }

    /// Shuts all clients down and ends the network.
    public func shutdown() async {
        let hosts = state.withLock { $0.hosts }
        for client in hosts.compactMap(\.client) where !hasEnded { await drive { await client.shutdown() } }
        let isFirst = state.withLock { state in
            defer { state.isShutDown = true }
            state.hosts = []
            return !state.isShutDown
        }
        guard isFirst else { return }
        let loop = loop
        await Task.detached { loop.shutdown() }.value
    }

    private var hasEnded: Bool { state.withLock { $0.isShutDown } }

    // MARK: The network's doings

    /// How well it carries datagrams from now on.
    public var conditions: NetworkConditions {
        get { state.withLock { $0.conditions } }
        set { state.withLock { $0.conditions = newValue } }
    }

    /// Loses the datagrams that a rule picks, besides those that ``conditions`` loses; nil takes the rule back.
    ///
    /// The rule is asked once for each datagram, in the order they are sent, and must not wait.
    public func lose(where rule: (@Sendable (SimulatedDatagram) -> Bool)?) {
        state.withLock { $0.rule = rule }
    }

    /// Takes a client's cable out, or puts it back in.
    public func setConnected(_ isConnected: Bool, clientNamed name: String) {
        state.withLock { state in
            guard let index = state.hosts.firstIndex(where: { $0.name == name.lowercased() }) else { return }
            state.hosts[index].isConnected = isConnected
        }
    }

    /// How many SIP messages were sent so far, lost ones included.
    public var signalingDatagramCount: Int { state.withLock { $0.signalingCount } }

    /// How many datagrams of sound and pictures were sent so far, lost ones included.
    public var mediaDatagramCount: Int { state.withLock { $0.mediaCount } }

    /// How many datagrams were lost so far.
    public var lostDatagramCount: Int { state.withLock { $0.lostCount } }
}
