import OffhookBasics
import OffhookEngine
import OffhookMedia
import OffhookRTP
import OffhookSDP
import OffhookSIP

/// Two engines on a network that is a value: every datagram takes the same time, and chosen ones are lost.
final class EngineNetwork {
    enum Side: Int, CaseIterable {
        case caller
        case callee

        var other: Side { self == .caller ? .callee : .caller }
        var endpoint: Endpoint { Endpoint(IPAddress(version4: 0xC000_0201 + UInt32(rawValue)), 5060) }
    }

    private enum Load {
        case signaling([UInt8])
        case media(PacketBuffer, toPort: UInt16, fromPort: UInt16)
    }

    private struct Datagram {
        var arrival: Instant
        var number: Int
        var to: Side
        var load: Load
    }

    private(set) var now = Instant.zero
    var engines: [CallEngine] = []
    private(set) var events: [[(call: CallHandle, event: CallEvent)]] = [[], []]
    private(set) var incoming: [CallHandle] = []
    private(set) var snapshots: [CallHandle: CallSnapshot] = [:]
    private(set) var finished: [CommandToken: CallFailure?] = [:]
    private(set) var plans: [CallHandle: MediaPlan] = [:]
    private(set) var videoFrames: [CallHandle: [[UInt8]]] = [:]
    private(set) var sounds: [CallHandle: [UInt8]] = [:]
    private(set) var keyFramesWanted: [CallHandle: Int] = [:]
    private(set) var videoTargets: [CallHandle: VideoTarget] = [:]
    private(set) var openPorts = [0, 0]
    /// SIP messages so far, lost ones included.
    private(set) var signalingCount = 0
    /// The SIP message to lose, by number.
    var losing: Int?
    /// Every so many media packets one is lost; 0 loses none.
    var mediaLossPeriod = 0
    /// The share of media packets that are lost at random.
    var mediaLoss = 0.0
    private var dice: SeededRandom
    /// A side's NAT has given its media new ports, so much higher; what comes to the old ones is lost.
    var rebinding: [Side: UInt16] = [:]
    /// The media datagram to lose, by number from 1.
    var losingMedia: Int?
    private(set) var mediaCount = 0
    /// How much longer the callee's messages take than its media.
    var calleesDelay = Duration.zero
    /// What becomes of the callee's messages on the way.
    var rewriting: (String) -> String = { $0 }
    /// What a stranger sends to the port of every media packet, just before it.
    var strangersDatagrams: [[UInt8]] = []
    private var strangersBuffers = PacketPool()
    /// What each side has sent of SIP.
    private(set) var messages: [[String]] = [[], []]
    /// Connections to TURN servers that were asked for and not given up; nothing answers them here.
    private(set) var openRelays: [Set<RelayConnectionID>] = [[], []]
    private var datagrams: [Datagram] = []
    private var sockets: [[MediaSocketID: UInt16]] = [[:], [:]]
    private var lastPort: UInt16 = 10000
    private var lastToken: UInt64 = 0
    /// How long everything is under way.
    var latency = Duration.milliseconds(5)

    init(
        capabilities: MediaCapabilities = MediaCapabilities(), policy: VideoAddPolicy = .ask, ice: ICESettings? = nil,
        onlyCallerDoesICE: Bool = false, seed: UInt64 = 1
    ) {
        dice = SeededRandom(seed: seed)
        var configuration = EngineConfiguration()
        // Long requests stay datagrams, which get lost; TCP's would not.
        configuration.userAgent.datagramLimit = nil
        for side in Side.allCases {
            var engine = CallEngine(
                configuration: configuration, clock: NTPClock(NTPTimestamp(rawValue: 1 << 60), at: .zero),
                seed: seed &+ UInt64(side.rawValue), firstHandle: UInt64(side.rawValue + 1) << 32, at: .zero)
            engine.setListeningPorts([.udp: 5060])
            let uri = URI(parsing: "sip:\(side)@\(side.endpoint.address)")
            var account = EngineAccount(
                handle: AccountHandle(number: 1), identity: NameAddress(uri: uri ?? .other("")),
                capabilities: capabilities)
            account.videoAddPolicy = policy
            account.ice = onlyCallerDoesICE && side == .callee ? nil : ice
            engine.setAccount(account)
            engines.append(engine)
            settle(side)
        }
    }

    func token() -> CommandToken {
        lastToken += 1
        return CommandToken(number: lastToken)
    }

    func step(_ side: Side, _ change: (inout CallEngine, Instant) -> Void) {
        change(&engines[side.rawValue], now)
        settle(side)
    }

    @discardableResult
    func perform(_ command: CallCommand, on call: CallHandle, _ side: Side) -> CommandToken {
        let token = token()
        step(side) { $0.perform(command, on: call, token: token, at: $1) }
        return token
    }

    private func settle(_ side: Side) {
        while true {
            while let output = engines[side.rawValue].nextOutput() { perform(output, side) }
            guard engines[side.rawValue].sparePortCount < CallEngine.sparePortsWanted else { return }
            let rtp = MediaSocketID(number: UInt64(lastPort))
            let rtcp = MediaSocketID(number: UInt64(lastPort) + 1)
            sockets[side.rawValue][rtp] = lastPort
            sockets[side.rawValue][rtcp] = lastPort + 1
            openPorts[side.rawValue] += 1
            engines[side.rawValue].addSparePorts(
                MediaPorts(rtp: rtp, rtpPort: lastPort, rtcp: rtcp, rtcpPort: lastPort + 1))
            lastPort += 2
        }
    }

    private func perform(_ output: EngineOutput, _ side: Side) {
        switch output {
        case .sendSignaling(let bytes, _):
            signalingCount += 1
            let text = String(decoding: bytes, as: UTF8.self)
            messages[side.rawValue].append(text)
            if signalingCount != losing {
                let changed = side == .callee ? Array(rewriting(text).utf8) : bytes
                send(.signaling(changed), to: side.other, after: side == .callee ? calleesDelay : .zero)
            }
        case .resolve(_, let question):
            let target = TransportTarget(transport: .udp, remote: side.other.endpoint)
            engines[side.rawValue].resolved(
                question, routes: [TransportRoute(target: target, local: side.endpoint)], at: now)
        case .sendMedia(let packet, let socket, let destination):
            mediaCount += 1
            let isLost = mediaLoss > 0 && Double.random(in: 0..<1, using: &dice) < mediaLoss
            if isLost || mediaLossPeriod > 0 && mediaCount % mediaLossPeriod == 0 || mediaCount == losingMedia {
                engines[side.rawValue].giveBack(packet)
            } else {
                let from = (sockets[side.rawValue][socket] ?? 0) + (rebinding[side] ?? 0)
                send(.media(packet, toPort: destination.port, fromPort: from), to: side.other)
            }
        case .closePorts(let ports):
            sockets[side.rawValue][ports.rtp] = nil
            sockets[side.rawValue][ports.rtcp] = nil
            openPorts[side.rawValue] -= 1
        case .connectRelay(let relay, _): openRelays[side.rawValue].insert(relay)
        case .closeRelay(let relay): openRelays[side.rawValue].remove(relay)
        case .incomingCall(let call, _, let snapshot):
            incoming.append(call)
            snapshots[call] = snapshot
        case .news(let call, let event, let snapshot):
            snapshots[call] = snapshot
            events[side.rawValue].append((call, event))
        case .finished(let token, let failure):
            finished[token] = failure
        case .media(let call, let plan):
            plans[call] = plan
        case .decodeVideo(let call, _, let frame):
            videoFrames[call, default: []].append(frame.buffer.bytes.withUnsafeBytes { Array($0) })
        case .playAudio(let call, .packet(let packet), _):
            sounds[call, default: []].append(packet.payload.loadByte(at: 0))
            engines[side.rawValue].giveBack(packet.buffer)
        case .encodeKeyFrame(let call, _):
            keyFramesWanted[call, default: 0] += 1
        case .targetVideo(let call, _, let target):
            videoTargets[call] = target
        case .playAudio, .expectAudioLoss, .finalStatistics, .requestEvent, .log, .sendKeepAlive,
            .registration, .credentialsNeeded, .outgoingCall, .joined, .limitAudio, .sendRelay:
            break
        }
    }

    private func send(_ load: Load, to side: Side, after delay: Duration = .zero) {
        datagrams.append(Datagram(arrival: now + latency + delay, number: datagrams.count, to: side, load: load))
    }

    /// Lets virtual time pass, doing what falls due.
    func run(_ duration: Duration) {
        let end = now + duration
        while true {
            let arrival = datagrams.map(\.arrival).min()
            let deadlines = Side.allCases.compactMap { engines[$0.rawValue].nextDeadline() }
            guard let next = ([arrival].compactMap(\.self) + deadlines).min(), next <= end else { break }
            now = max(now, next)
            let due = datagrams.filter { $0.arrival <= now }
            datagrams.removeAll { $0.arrival <= now }
            for datagram in due { deliver(datagram) }
            for side in Side.allCases {
                if let deadline = engines[side.rawValue].nextDeadline(), deadline <= now {
                    step(side) { $0.handle(timeoutAt: $1) }
                }
            }
        }
        now = end
    }

    private func deliver(_ datagram: Datagram) {
        let side = datagram.to
        switch datagram.load {
        case .signaling(let bytes):
            let source = TransportTarget(transport: .udp, remote: side.other.endpoint)
            step(side) { $0.receiveSignaling(bytes, from: source, local: side.endpoint, at: $1) }
        case .media(let packet, let port, let fromPort):
            let local = Int(port) - Int(rebinding[side] ?? 0)
            guard let socket = sockets[side.rawValue].first(where: { Int($0.value) == local })?.key else { return }
            for bytes in strangersDatagrams {
                let strange = strangersBuffers.take()
                strange.assign(bytes)
                let stranger = Endpoint(IPAddress(version4: 0xCB00_7142), 666)
                step(side) { $0.receiveMedia(strange, on: socket, from: stranger, at: $1) }
            }
            let source = Endpoint(side.other.endpoint.address, fromPort)
            step(side) { $0.receiveMedia(packet, on: socket, from: source, at: $1) }
        }
    }

    // MARK: A call

    /// Makes a call with this mode, and answers it with that one once it rings.
    func connect(
        offering mode: VideoMode?, answering answer: VideoMode?, delaysOffer: Bool = false,
        settling: Duration = .seconds(20)
    ) -> (caller: CallHandle, callee: CallHandle?, start: CommandToken) {
        let caller = CallHandle(number: 7)
        step(.caller) { engine, now in
            let uri = URI(parsing: "sip:callee@\(Side.callee.endpoint.address)") ?? .other("")
            _ = engine.addCall(
                caller, of: AccountHandle(number: 1), to: uri, delaysOffer: delaysOffer, headers: SIPHeaders(), at: now)
        }
        if let mode { perform(.setVideoMode(mode), on: caller, .caller) }
        let start = perform(.start, on: caller, .caller)
        run(.seconds(20))
        guard let callee = incoming.last else { return (caller, nil, start) }
        if let answer { perform(.setVideoMode(answer), on: callee, .callee) }
        perform(.accept, on: callee, .callee)
        run(settling)
        return (caller, callee, start)
    }

    func events(of call: CallHandle) -> [CallEvent] {
        events.joined().filter { $0.call == call && $0.event != .changed }.map(\.event)
    }
}
