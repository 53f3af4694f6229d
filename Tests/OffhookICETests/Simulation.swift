import OffhookBasics
import OffhookICE

/// Two agents, the NATs before them and a STUN and TURN server between, in simulated time.
struct Simulation {
    struct Side {
        var agent: ICEAgent
        var streams: [ICEStreamID] = []
        /// The NAT before this side, if any.
        var translator: NetworkAddressTranslator?
        var actions: [ICEAction] = []
        /// Media that arrived, by component.
        var media: [[UInt8]] = []
        var isCut = false
    }

    private struct Flight {
        let due: Instant
        let bytes: [UInt8]
        let source: Endpoint
        let destination: Endpoint
    }

    private struct LocalSocket {
        let side: Int
        let endpoint: Endpoint
        /// A connection to the TURN server, which loses nothing.
        var isStream = false
    }

    var now = Instant.zero + .seconds(1)
    var sides: [Side]
    var server: RelayServer?
    /// Two ends between which nothing passes.
    var blocked: (Endpoint, Endpoint)?
    /// The number of the one datagram that gets lost.
    var lostNumber: Int?
    /// Part of all datagrams that get lost, from a seed.
    var lossPerThousand = 0
    /// Part of all datagrams of which some bytes are changed on the way.
    var mutationsPerThousand = 0
    private(set) var sentCount = 0
    private var sockets: [SocketID: LocalSocket] = [:]
    private var flights: [Flight] = []
    private var random: SeededRandom
    let delay = Duration.milliseconds(20)

    static let server = Endpoint("203.0.113.5:3478")

    init(
        _ first: ICEConfiguration = ICEConfiguration(), _ second: ICEConfiguration = ICEConfiguration(),
        roles: (ICERole, ICERole) = (.controlling, .controlled), seed: UInt64 = 1
    ) {
        random = SeededRandom(seed: seed)
        sides = [
            Side(
                agent: ICEAgent(
                    configuration: first, role: roles.0, seed: seed &* 2 &+ 11, authenticator: Authenticator())),
            Side(
                agent: ICEAgent(
                    configuration: second, role: roles.1, seed: seed &* 2 &+ 12, authenticator: Authenticator())),
        ]
    }

    /// Both sides behind NATs of their own (or none), with a STUN and, if asked, TURN server.
    static func behind(
        _ first: NetworkAddressTranslator.Kind?, _ second: NetworkAddressTranslator.Kind?, relay: Bool = false,
        seed: UInt64 = 1, adjust: (inout ICEConfiguration) -> Void = { _ in }
    ) -> Simulation {
        var configuration = ICEConfiguration()
        configuration.stunServers = [server]
        if relay {
            configuration.turnServers = [TURNServer(endpoint: server, username: "user", password: "secret")]
        }
        adjust(&configuration)
        var simulation = Simulation(configuration, configuration, seed: seed)
        simulation.server = RelayServer(endpoint: server)
        simulation.sides[0].translator = first.map {
            NetworkAddressTranslator($0, address: Endpoint("198.51.100.1:1").address)
        }
        simulation.sides[1].translator = second.map {
            NetworkAddressTranslator($0, address: Endpoint("198.51.100.2:1").address)
        }
        return simulation
    }

    // MARK: Setting up

    /// Gives both sides a stream, and a socket for each of its components.
    mutating func addStream(components: [UInt16] = [1]) {
        for side in sides.indices {
            let stream = sides[side].agent.addStream(components: components)
            sides[side].streams.append(stream)
            for component in components {
                let host = sides[side].translator == nil ? "192.0.2.\(side + 1)" : "10.0.\(side).1"
                addSocket(Endpoint("\(host):\(4000 + sockets.count)"), side: side, ICEComponentID(stream, component))
            }
        }
    }

    @discardableResult
    mutating func addSocket(_ endpoint: Endpoint, side: Int, _ component: ICEComponentID) -> SocketID {
        let socket = SocketID(UInt64(sockets.count + 1))
        sockets[socket] = LocalSocket(side: side, endpoint: endpoint)
        step(side) { agent, now, actions in
            agent.addLocalHost(endpoint, socket: socket, component: component, at: now, actions: &actions)
        }
        return socket
    }

    /// Gives a side a connection to the TURN server.
    mutating func addTURNStream(side: Int) {
        let socket = SocketID(UInt64(sockets.count + 1))
        let local = Endpoint("192.0.2.\(side + 1):\(9000 + sockets.count)")
        sockets[socket] = LocalSocket(side: side, endpoint: local, isStream: true)
        let turnServer = TURNServer(
            endpoint: Self.server, transport: .stream, username: "user", password: "secret")
        let component = ICEComponentID(sides[side].streams[0])
        step(side) { agent, now, actions in
            agent.addTURNStream(
                turnServer, localEndpoint: local, socket: socket, component: component, at: now, actions: &actions)
        }
    }

    mutating func gather() {
        for side in sides.indices {
            step(side) { agent, now, actions in agent.gather(at: now, actions: &actions) }
        }
        run(for: .seconds(10)) { $0.sides.allSatisfy(\.agent.isGatheringComplete) }
    }

    /// Tells one side what the other one has gathered, as SDP would.
    mutating func describe(
        _ from: Int, to other: Int, candidates: Bool = true, isComplete: Bool = true, isLite: Bool = false
    ) {
        for index in sides[from].streams.indices {
            let stream = sides[from].streams[index]
            guard let credentials = sides[from].agent.localCredentials(of: stream) else { continue }
            let description = ICERemoteDescription(
                credentials: credentials,
                candidates: candidates ? sides[from].agent.localCandidates(of: stream) : [], isLite: isLite,
                isComplete: isComplete)
            let target = sides[other].streams[index]
            step(other) { agent, now, actions in
                agent.setRemote(description, for: target, at: now, actions: &actions)
            }
        }
    }

    mutating func exchange() {
        describe(0, to: 1)
        describe(1, to: 0)
    }

    /// The whole way to a connection.
    mutating func connect(for limit: Duration = .seconds(60)) {
        addStream()
        gather()
        exchange()
        run(for: limit) { $0.isConnected }
    }

    var isConnected: Bool {
        sides.allSatisfy { side in
            side.streams.allSatisfy { stream in side.actions.contains(.connected(stream)) }
        }
    }

    // MARK: Running

    mutating func step(_ side: Int, _ body: (inout ICEAgent, Instant, inout [ICEAction]) -> Void) {
        var actions: [ICEAction] = []
        body(&sides[side].agent, now, &actions)
        sides[side].actions += actions
        for case .send(let bytes, let socket, let destination) in actions {
            send(bytes, from: socket, to: destination)
        }
    }

    mutating func sendMedia(_ payload: [UInt8], from side: Int, component: UInt16 = 1) -> Bool {
        var isSent = false
        let stream = sides[side].streams[0]
        step(side) { agent, now, actions in
            isSent = payload.withUnsafeBytes {
                agent.sendMedia($0.bytes, for: ICEComponentID(stream, component), at: now, actions: &actions)
            }
        }
        return isSent
    }

    mutating func run(for limit: Duration, until isDone: (Simulation) -> Bool = { _ in false }) {
        let end = now + limit
        while !isDone(self) {
            let next = flights.map(\.due).min() ?? .distantFuture
            let deadline = sides.compactMap(\.agent.nextDeadline).min() ?? .distantFuture
            let due = min(next, deadline)
            guard due <= end else {
                now = end
                return
            }
            now = max(now, due)
            if next <= deadline, let index = flights.firstIndex(where: { $0.due == next }) {
                deliver(flights.remove(at: index))
            } else {
                for side in sides.indices {
                    guard let deadline = sides[side].agent.nextDeadline, deadline <= now else { continue }
                    step(side) { agent, now, actions in agent.handle(timeoutAt: now, actions: &actions) }
                }
            }
        }
    }

    private mutating func send(_ bytes: [UInt8], from socket: SocketID, to destination: Endpoint) {
        guard let local = sockets[socket] else { return }
        sentCount += 1
        let isLost = sentCount == lostNumber || Int(random.next() % 1000) < lossPerThousand
        let source = sides[local.side].translator?.translate(local.endpoint, to: destination) ?? local.endpoint
        guard !isLost, !sides[local.side].isCut, !isBlocked(source, destination) else { return }
        flights.append(
            Flight(due: now + delay, bytes: mutated(bytes), source: source, destination: destination))
    }

    private mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        guard mutationsPerThousand > 0, Int(random.next() % 1000) < mutationsPerThousand, !bytes.isEmpty else {
            return bytes
        }
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        if Int.random(in: 0...3, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        }
        return bytes
    }

    private func isBlocked(_ source: Endpoint, _ destination: Endpoint) -> Bool {
        guard let blocked else { return false }
        return blocked == (source, destination) || blocked == (destination, source)
    }

    private mutating func deliver(_ flight: Flight) {
        if server?.owns(flight.destination) == true {
            let answers = server?.receive(flight.bytes, from: flight.source, to: flight.destination) ?? []
            for answer in answers {
                flights.append(
                    Flight(
                        due: now + delay, bytes: answer.bytes, source: answer.source, destination: answer.destination))
            }
            return
        }
        guard let (socket, side) = receiver(of: flight), !sides[side].isCut else { return }
        if sockets[socket]?.isStream == true {
            deliverStream(flight.bytes, on: socket, side: side)
            return
        }
        var receipt = ICEReceipt.handled
        step(side) { agent, now, actions in
            receipt = flight.bytes.withUnsafeBytes { bytes in
                agent.receive(bytes.bytes, on: socket, from: flight.source, at: now, actions: &actions)
            }
        }
        switch receipt {
        case .handled: break
        case .notSTUN: sides[side].media.append(flight.bytes)
        case .relayedMedia(let range, _): sides[side].media.append(Array(flight.bytes[range]))
        }
    }

    private mutating func deliverStream(_ bytes: [UInt8], on socket: SocketID, side: Int) {
        let padded = bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
        let before = sides[side].actions.count
        // In pieces, as a connection may bring it.
        for start in stride(from: 0, to: padded.count, by: 7) {
            let piece = Array(padded[start..<min(start + 7, padded.count)])
            step(side) { agent, now, actions in
                piece.withUnsafeBytes { agent.receiveStream($0.bytes, on: socket, at: now, actions: &actions) }
            }
        }
        for case .relayedMedia(let payload, _) in sides[side].actions.dropFirst(before) {
            sides[side].media.append(payload)
        }
    }

    private func receiver(of flight: Flight) -> (SocketID, Int)? {
        for side in sides.indices {
            let local: Endpoint?
            if let translator = sides[side].translator {
                local =
                    translator.address == flight.destination.address
                    ? translator.admit(to: flight.destination.port, from: flight.source) : nil
            } else {
                local = flight.destination
            }
            guard let local else { continue }
            if let socket = sockets.first(where: { $0.value.side == side && $0.value.endpoint == local })?.key {
                return (socket, side)
            }
        }
        return nil
    }
}
