import OffhookBasics
import OffhookSDP
import Testing

/// Lines that other stacks test themselves with: pion/ice (MIT) and libwebrtc (BSD-3-Clause).
@Suite struct `Candidate lines` {
    /// What follows `a=candidate:`, the address it gives, and whether that can be sent to as it stands.
    static let read: [(String, String, Bool)] = [
        ("1380287402 1 udp 2130706431 e2494022-4d9a-4c1e-a750-cc48d4f8d6ee.local 60542 typ host", "host", false),
        ("848194626 1 udp 16777215 192.0.2.7 5000 typ relay raddr 192.168.0.1 rport 654 ext value", "relay", true),
        ("a0+B/1 1 tcp 2130706432 192.168.1.5 9999 typ host", "host", true),
        ("1 1 UDP 1686052863 192.0.2.2 42705 typ srflx raddr 192.168.1.101 rport 42705", "srflx", true),
        (
            "4207374052 1 tcp 1685790463 192.0#.2.15 50000 typ prflx raddr 10.0.0.1 rport 12345 rport 5001", "prflx",
            false
        ),
        ("750 1 udp 500 10.0.0.1 65535 typ host", "host", true),
        ("848194626 1 udp 16777215 192.0.2.7 5000 typ relay raddr 192.168.0.1 rport 999999", "relay", true),
        ("a0+B/1 1 udp 2130706432 192.168.1.5 1234 typ host generation 2", "host", true),
        ("1052353102 1 tcp 2128609279 192.168.0.196 0 typ host tcptype active generation 0", "host", true),
        ("647372371 1 udp 1694498815 191.228.2@338.68 53991 typ srflx raddr 192.168.0.274 rport 53991", "srflx", false),
        ("750 0 udp 500 fcd9:e3b8:12ce:9fc5:74a5:c6bb:d8b:e08a 53987 typ host", "host", true),
        ("a0+B/1 1 ssltcp 2130706432 192.168.1.5 9999 typ host tcptype passive", "host", true),
        ("a0+B/1 1 udp 2130706432 a.test 1234 typ host generation 2", "host", false),
        (
            "a0+B/1 1 udp 2130706432 192.168.1.5 1234 typ host network_name eth0 ufrag user_rtp pwd password_rtp",
            "host", true
        ),
    ]

    @Test(arguments: read) func `are read, names and strange words with them`(
        _ text: String, _ kind: String, _ isAddress: Bool
    ) throws {
        let candidate = try #require(ICECandidateAttribute(parsing: text[...]))

        #expect(candidate.kind == kind)
        #expect((candidate.endpoint != nil) == isAddress)
        #expect(ICECandidateAttribute(parsing: candidate.text[...]) == candidate)
    }

    @Test(arguments: [
        "6815297761 1 udp 659136 192.0.2.2 31102 typ", "4207374051 1 udp INVALID 10.0.75.1 53634 typ host",
        "1986380506 1 udp 99999999999 10.0.75.1 53634 typ host", "1 1 udp 1 192.0.2.1 70000 typ host", "",
    ]) func `without what they need are passed over`(text: String) {
        #expect(ICECandidateAttribute(parsing: text[...]) == nil)
    }
}
