internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookRTP
internal import OffhookSDP

/// The way of one media line's packets: its sockets, the far end's addresses, and SRTP.
final class MediaTransport {
    /// What a datagram turned out to be; packets are in the clear.
    enum Arrival {
        case rtp(PacketBuffer)
        case rtcp(PacketBuffer)
        /// A stranger, something damaged or something dealt with here; the buffer is left to give back.
        case ignored(PacketBuffer)
    }

    /// What the transport wants done, after each call.
    enum Outcome {
        /// Send this as it is.
        case send([UInt8], isControl: Bool)
        /// Packets are protected from now on.
        case secured
        case securityFailed(DTLSError)
    }

    /// How packets are protected.
    private enum Security {
        case plain
        /// One context for RTP and RTCP, keyed by signalling.
        case signalled(SRTPContext)
        /// Keys come by DTLS, for each component its own.
        case dtls
    }

    /// Packets that were dropped on arrival, and why.
    struct Counters {
        var strangers = 0
        var unauthenticated = 0
        var replayed = 0
    }

    private static let waitingLimit = 8

    let ports: MediaPorts
    private let identity: DTLSIdentity?
    /// Whether RTP and RTCP share the first port (RFC 5761).
    private(set) var isMultiplexed = false
    private(set) var counters = Counters()
    private(set) var outcomes: [Outcome] = []
    /// Whether there is a way for the handshake.
    private var hasPath = false
    /// Datagrams of the handshake that came before there was a way to send them.
    private var waiting: [(bytes: [UInt8], isControl: Bool)] = []
    private var security = Security.plain
    private var signalled: SRTPContext?
    private var rtpHandshake: DTLSComponent?
    private var rtcpHandshake: DTLSComponent?
    private var handshakeOutcomes: [DTLSComponent.Outcome] = []
    private var remote = RemoteAddress()
    private var remoteControl = RemoteAddress()

    init(ports: MediaPorts, identity: DTLSIdentity?) {
        self.ports = ports
        self.identity = identity
        guard let identity else { return }
        rtpHandshake = DTLSComponent(identity: identity)
        rtcpHandshake = DTLSComponent(identity: identity)
    }

    var remoteEndpoint: Endpoint? { remote.current }

    /// The suite that protects what is sent, or did until the far end closed the association; nil while nothing was.
    var suiteName: String? {
        if case .dtls = security { return rtpHandshake?.context.outboundKeys?.suite.sdesName }
        return rtpContext?.outboundKeys?.suite.sdesName
    }

    /// Whether packets that are sent are protected.
    var isSecured: Bool {
        switch security {
        case .plain: false
        case .signalled: true
        case .dtls: rtpHandshake?.isSecured == true
        }
    }

    /// Sets the addresses of the far end's description.
    func signal(rtp: Endpoint?, rtcp: Endpoint?, isMultiplexed: Bool) {
        self.isMultiplexed = isMultiplexed
        remote.signal(rtp)
        remoteControl.signal(rtcp)
    }

    // MARK: Security

    func makePlain() {
        security = .plain
    }

    /// Keys both ways. Keys in use stay as they are, with their counters (RFC 4568 §7.1.4).
    func secure(outbound: SRTPKeys, inbound: SRTPKeys) throws(SRTPError) {
        let context = signalled ?? SRTPContext()
        try context.setOutboundKeys(outbound)
        try context.setInboundKeys(inbound)
        signalled = context
        security = .signalled(context)
    }

    /// No line uses the transport any more: whoever does later begins anew, as the far end will (RFC 8842 §4).
    func abandon() {
        guard case .dtls = security, let identity else { return }
        rtpHandshake = DTLSComponent(identity: identity)
        rtcpHandshake = DTLSComponent(identity: identity)
        hasPath = false
        waiting = []
        remote = RemoteAddress()
        remoteControl = RemoteAddress()
    }

    /// Agrees on keys by DTLS; until they are there nothing is sent and nothing that comes is believed.
    func handshake(role: SetupRole, remote: DTLSDescription, at now: Instant) {
        security = .dtls
        for component in handshakes {
            component.agree(
                role: role, remote: remote, with: address(for: component), at: now, outcomes: &handshakeOutcomes)
            takeHandshake(component)
        }
    }

    private var handshakes: [DTLSComponent] {
        [rtpHandshake, isMultiplexed ? nil : rtcpHandshake].compactMap(\.self)
    }

    private func address(for component: DTLSComponent) -> Endpoint? {
        component === rtcpHandshake ? remoteControl.current : remote.current
    }

    private var rtpContext: SRTPContext? {
        switch security {
        case .plain: nil
        case .signalled(let context): context
        case .dtls: rtpHandshake?.isSecured == true ? rtpHandshake?.context : nil
        }
    }

    private var rtcpContext: SRTPContext? {
        guard case .dtls = security, !isMultiplexed else { return rtpContext }
        return rtcpHandshake?.isSecured == true ? rtcpHandshake?.context : nil
    }

    private var isPlain: Bool {
        if case .plain = security { true } else { false }
    }

    private func takeHandshake(_ component: DTLSComponent) {
        let isControl = component === rtcpHandshake
        for outcome in handshakeOutcomes {
            switch outcome {
            case .send(let bytes):
                outcomes.append(.send(bytes, isControl: isControl))
            case .secured:
                if handshakes.allSatisfy(\.isSecured) { outcomes.append(.secured) }
            case .failed(let error):
                outcomes.append(.securityFailed(error))
            }
        }
        handshakeOutcomes.removeAll(keepingCapacity: true)
    }

    func takeOutcomes() -> [Outcome] {
        guard !outcomes.isEmpty else { return [] }
        defer { outcomes = [] }
        return outcomes
    }

    /// Keeps a datagram of the handshake until ICE has found a way: its repetition would come half a second later.
    func keep(_ bytes: [UInt8], isControl: Bool) {
        if waiting.count < Self.waitingLimit { waiting.append((bytes, isControl)) }
    }

    var hasWaiting: Bool { !waiting.isEmpty }

    /// ICE has found the first way, which takes a check and its answer so long.
    func pathFound(roundTrip: @autoclosure () -> Duration?, at now: Instant) {
        guard !hasPath, let roundTrip = roundTrip() else { return }
        hasPath = true
        for component in handshakes { component.pathFound(roundTrip: roundTrip, at: now) }
    }

    func takeWaiting() -> [(bytes: [UInt8], isControl: Bool)] {
        defer { waiting = [] }
        return waiting
    }

    // MARK: Time

    var nextDeadline: Instant? {
        guard case .dtls = security else { return nil }
        return handshakes.compactMap(\.nextDeadline).min()
    }

    func handle(timeoutAt now: Instant) {
        for component in handshakes {
            guard let deadline = component.nextDeadline, deadline <= now else { continue }
            // What is repeated now need not be sent twice.
            waiting.removeAll { $0.isControl == (component === rtcpHandshake) }
            component.handle(timeoutAt: now, outcomes: &handshakeOutcomes)
            takeHandshake(component)
        }
    }

    func close() {
        for component in handshakes {
            component.close(outcomes: &handshakeOutcomes)
            takeHandshake(component)
        }
    }

    // MARK: Packets

    /// Takes a datagram; `isVouchedFor` tells that ICE knows who sends from there.
    func receive(
        _ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, isVouchedFor: @autoclosure () -> Bool,
        at now: Instant
    ) -> Arrival {
        let isControl: Bool
        switch PacketKind(classifying: packet.bytes) {
        case .rtp: isControl = false
        case .rtcp: isControl = true
        case .dtls:
            guard let component = socket == ports.rtcp ? rtcpHandshake : rtpHandshake else { return stranger(packet) }
            component.receive(
                packet.bytes, from: source, expected: address(for: component), isVouchedFor: isVouchedFor(), at: now,
                outcomes: &handshakeOutcomes)
            takeHandshake(component)
            return .ignored(packet)
        case .stun, .zrtp, .turnChannel, .unknown:
            return stranger(packet)
        }
        if !isPlain {
            guard let context = isControl ? rtcpContext : rtpContext else { return stranger(packet) }
            do throws(SRTPError) {
                if isControl { try context.unprotectRTCP(packet) } else { try context.unprotectRTP(packet) }
            } catch {
                if error == .replayed { counters.replayed += 1 } else { counters.unauthenticated += 1 }
                return .ignored(packet)
            }
        }
        if isControl, socket == ports.rtcp {
            remoteControl.note(source, isAuthenticated: !isPlain, at: now)
        } else if !isControl, socket == ports.rtp {
            remote.note(source, isAuthenticated: !isPlain, at: now)
        }
        return isControl ? .rtcp(packet) : .rtp(packet)
    }

    private func stranger(_ packet: PacketBuffer) -> Arrival {
        counters.strangers += 1
        return .ignored(packet)
    }

    /// Protects a packet; false where that cannot be done yet, and it must not be sent.
    func protect(_ packet: PacketBuffer, isControl: Bool) -> Bool {
        if isPlain { return true }
        do throws(SRTPError) {
            if isControl {
                guard let context = rtcpContext else { return false }
                try context.protectRTCP(packet)
            } else {
                guard let context = rtpContext else { return false }
                try context.protectRTP(packet)
            }
            return true
        } catch {
            return false
        }
    }

    /// Which socket sends a packet, and where to by what signalling said; nil where it said nothing.
    func way(isControl: Bool) -> (socket: MediaSocketID, destination: Endpoint)? {
        let usesControlPort = isControl && !isMultiplexed
        guard let destination = usesControlPort ? remoteControl.current : remote.current else { return nil }
        return (usesControlPort ? ports.rtcp : ports.rtp, destination)
    }
}
