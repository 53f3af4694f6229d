package import OffhookBasics

extension RegistrationMachine.KeepAlive {
    /// What goes out.
    func bytes(random: inout SeededRandom) -> [UInt8] {
        switch self {
        case .lineEnds: [13, 10, 13, 10]
        // A binding request without attributes: type, length, magic cookie, transaction (RFC 5389 §6).
        case .stun: [0x00, 0x01, 0x00, 0x00] + StunAnswer.cookie + random.bytes(12)
        }
    }
}

/// The answer to a STUN binding request sent as a sign of life (RFC 5389 §6, §15.2).
package struct StunAnswer: Sendable {
    static let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
    /// Where the server saw the request come from; nil where it does not say.
    package let seen: Endpoint?

    /// Reads a datagram that came to the SIP port; nil if it is no answer to a binding request.
    package init?(parsing datagram: [UInt8]) {
        guard datagram.count >= 20, datagram[0] == 0x01, datagram[1] == 0x01, Array(datagram[4..<8]) == Self.cookie
        else { return nil }
        var found: Endpoint?
        var offset = 20
        while offset + 4 <= datagram.count {
            let type = Int(datagram[offset]) << 8 | Int(datagram[offset + 1])
            let length = Int(datagram[offset + 2]) << 8 | Int(datagram[offset + 3])
            let start = offset + 4
            guard start + length <= datagram.count else { break }
            // XOR-MAPPED-ADDRESS of IPv4; behind translators there is no other.
            if type == 0x0020, length == 8, datagram[start + 1] == 1 {
                let port = (UInt16(datagram[start + 2]) << 8 | UInt16(datagram[start + 3])) ^ 0x2112
                let bits = datagram[start + 4..<start + 8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } ^ 0x2112_A442
                found = Endpoint(IPAddress(version4: bits), port)
            }
            offset = start + (length + 3) & ~3
        }
        seen = found
    }
}
