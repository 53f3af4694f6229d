internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookRTP

/// The way of one media line's packets: its sockets, the far end's addresses, and SRTP.
final class MediaTransport {
    /// What a datagram turned out to be; packets are in the clear.
    enum Arrival {
        case rtp(PacketBuffer)
        case rtcp(PacketBuffer)
        /// A stranger, something damaged or something not for us; the buffer is left to give back.
        case ignored(PacketBuffer)
    }

    /// Packets that were dropped on arrival, and why.
    struct Counters {
        var strangers = 0
        var unauthenticated = 0
        var replayed = 0
    }

    let ports: MediaPorts
    /// Whether RTP and RTCP share the first port (RFC 5761).
    var isMultiplexed = false
    private(set) var counters = Counters()
    private(set) var security: SRTPContext?
    private var remote = RemoteAddress()
    private var remoteControl = RemoteAddress()

    init(ports: MediaPorts) {
        self.ports = ports
    }

    var remoteEndpoint: Endpoint? { remote.current }

    /// The suite that protects what is sent; nil while nothing is protected.
    var suiteName: String? { security?.outboundKeys?.suite.sdesName }

    /// Sets the addresses of the far end's description.
    func signal(rtp: Endpoint?, rtcp: Endpoint?) {
        remote.signal(rtp)
        remoteControl.signal(rtcp)
    }

    /// Keys both ways. Keys in use stay as they are, with their counters (RFC 4568 §7.1.4).
    func secure(outbound: SRTPKeys, inbound: SRTPKeys) throws(SRTPError) {
        let context = security ?? SRTPContext()
        try context.setOutboundKeys(outbound)
        try context.setInboundKeys(inbound)
        security = context
    }

    func makePlain() {
        security = nil
    }

    func receive(_ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, at now: Instant) -> Arrival {
        let isControl: Bool
        switch PacketKind(classifying: packet.bytes) {
        case .rtp: isControl = false
        case .rtcp: isControl = true
        case .stun, .zrtp, .dtls, .turnChannel, .unknown:
            counters.strangers += 1
            return .ignored(packet)
        }
        if let security {
            do throws(SRTPError) {
                if isControl { try security.unprotectRTCP(packet) } else { try security.unprotectRTP(packet) }
            } catch {
                if error == .replayed { counters.replayed += 1 } else { counters.unauthenticated += 1 }
                return .ignored(packet)
            }
        }
        if isControl, socket == ports.rtcp {
            remoteControl.note(source, isAuthenticated: security != nil, at: now)
        } else if !isControl, socket == ports.rtp {
            remote.note(source, isAuthenticated: security != nil, at: now)
        }
        return isControl ? .rtcp(packet) : .rtp(packet)
    }

    /// Protects an RTP packet and says where it goes; nil where it cannot be sent, and the buffer is to be given back.
    func prepareRTP(_ packet: PacketBuffer) -> (socket: MediaSocketID, destination: Endpoint)? {
        guard let destination = remote.current else { return nil }
        if let security, (try? security.protectRTP(packet)) == nil { return nil }
        return (ports.rtp, destination)
    }

    /// The same for an RTCP packet.
    func prepareRTCP(_ packet: PacketBuffer) -> (socket: MediaSocketID, destination: Endpoint)? {
        guard let destination = isMultiplexed ? remote.current : remoteControl.current else { return nil }
        if let security, (try? security.protectRTCP(packet)) == nil { return nil }
        return (isMultiplexed ? ports.rtp : ports.rtcp, destination)
    }
}
