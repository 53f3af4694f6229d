internal import CSRTP
package import OffhookBasics

/// Protects and unprotects the packets of one media transport, in place (RFC 3711).
///
/// It belongs to one thread. Keys are per direction and hold for every SSRC that turns up; each SSRC has roll-over
/// counter and replay list of its own, which change only after a packet has been authenticated.
package final class SRTPContext {
    private var outbound: SRTPSession?
    private var inbound: SRTPSession?
    /// The keys before the present ones: packets that were under way when the keys changed are still taken.
    private var previousInbound: SRTPSession?
    private var packetsUnderNewKeys = 0
    private let spare = PacketBuffer()

    /// Makes a context without keys.
    package init() {}

    /// Makes a context that protects with the first keys and unprotects with the second.
    package convenience init(outbound: SRTPKeys?, inbound: SRTPKeys?) throws(SRTPError) {
        self.init()
        if let outbound { try setOutboundKeys(outbound) }
        if let inbound { try setInboundKeys(inbound) }
    }

    /// What packets are protected with.
    package var outboundKeys: SRTPKeys? { outbound?.keys }
    /// What packets are unprotected with.
    package var inboundKeys: SRTPKeys? { inbound?.keys }

    /// Protects with these keys from now on. Keys that are in use already change nothing: roll-over counters live
    /// through every re-INVITE that keeps the keys. New keys start a new cryptographic context, with the counter at 0.
    package func setOutboundKeys(_ keys: SRTPKeys) throws(SRTPError) {
        guard outbound?.keys != keys else { return }
        outbound = try SRTPSession(keys: keys, direction: ssrc_any_outbound)
    }

    /// Unprotects with these keys from now on. Keys that are in use already change nothing: roll-over counters and
    /// replay lists live through every re-INVITE that keeps the keys.
    package func setInboundKeys(_ keys: SRTPKeys) throws(SRTPError) {
        guard inbound?.keys != keys else { return }
        let session = try SRTPSession(keys: keys, direction: ssrc_any_inbound)
        previousInbound = inbound
        packetsUnderNewKeys = 0
        inbound = session
    }

    /// Adds encryption and tag to an RTP packet. The packet is unchanged where this throws.
    ///
    /// A packet may be protected a second time only if it is byte for byte the same, as a retransmission is: other
    /// content under the same index would give the keystream away.
    package func protectRTP(_ packet: PacketBuffer) throws(SRTPError) {
        guard let outbound else { throw .noKeys }
        try outbound.protectRTP(packet)
    }

    /// Adds encryption, index and tag to a compound RTCP packet.
    package func protectRTCP(_ packet: PacketBuffer) throws(SRTPError) {
        guard let outbound else { throw .noKeys }
        try outbound.protectRTCP(packet)
    }

    /// Checks an SRTP packet and takes its protection away. A packet that was refused must not be looked at.
    package func unprotectRTP(_ packet: PacketBuffer) throws(SRTPError) {
        try unprotect(packet) { (session, packet) throws(SRTPError) in try session.unprotectRTP(packet) }
    }

    /// Checks an SRTCP packet and takes its protection away. A packet that was refused must not be looked at.
    package func unprotectRTCP(_ packet: PacketBuffer) throws(SRTPError) {
        try unprotect(packet) { (session, packet) throws(SRTPError) in try session.unprotectRTCP(packet) }
    }

    private func unprotect(
        _ packet: PacketBuffer, _ body: (SRTPSession, PacketBuffer) throws(SRTPError) -> Void
    ) throws(SRTPError) {
        guard let inbound else { throw .noKeys }
        guard let previousInbound else { return try body(inbound, packet) }
        let copy = spare
        copy.assign(packet.bytes)
        do throws(SRTPError) {
            try body(inbound, packet)
            packetsUnderNewKeys += 1
            if packetsUnderNewKeys == Self.packetsUntilOldKeysGo { self.previousInbound = nil }
        } catch .authenticationFailed, .unknownMasterKey {
            packet.assign(copy.bytes)
            try body(previousInbound, packet)
        }
    }

    /// The far end has long changed over, and nothing of before can still be under way.
    private static let packetsUntilOldKeysGo = 500
}
