import OffhookSIP
import Testing

/// Which party of a flow is played, and what the app does there.
struct PlayedFlow: CustomTestStringConvertible, Sendable {
    var file: String
    /// The party, as the labels of the flow name it.
    var us: String
    var identity = "sip:alice@example.org"
    var transport: SIPTransport
    /// For flows whose labels do not say who sends: `>` is ours, `<` is for us, `-` is between others.
    var directions: String?
    /// What happens before a message, by its number in the text, or its place where it has none; `end` is after the last.
    var before: [String: [FlowStep]]
    var registers = false
    var hasServer = true
    /// Compares methods and statuses alone.
    var isLoose = false
    /// Slips of the RFC, and what was meant.
    var corrections: [String: String]

    var testDescription: String { "\(file) as \(us)" }

    init(
        _ file: String, as us: String, over transport: SIPTransport = .tcp, directions: String? = nil,
        registers: Bool = false, hasServer: Bool = true, isLoose: Bool = false, corrections: [String: String] = [:],
        _ before: [String: [FlowStep]] = [:]
    ) {
        self.file = file
        self.us = us
        self.transport = transport
        self.directions = directions
        self.registers = registers
        self.hasServer = hasServer
        self.isLoose = isLoose
        self.corrections = corrections
        self.before = before
    }
}

extension PlayedFlow {
    /// Registrations.
    static let registrations: [PlayedFlow] = [
        PlayedFlow("rfc3665-2.1", as: "Bob", over: .tls, registers: true, ["F1": [.register]]),
        PlayedFlow("rfc3665-2.5", as: "Bob", over: .tls, registers: true, ["F1": [.register]]),
        // The middle REGISTER of the section is not printed as a flow of its own.
        PlayedFlow("rfc5626-9.4", as: "Bob", directions: ">", registers: true, ["0": [.register]]),
        PlayedFlow("rfc5627-9", as: "Callee", directions: "><----", registers: true, ["0": [.register]]),
        PlayedFlow("rfc6314-5.1.2", as: "Bob", directions: ">-", registers: true, ["0": [.register]]),
        PlayedFlow("rfc7118-8.1", as: "Alice", over: .secureWebSocket, registers: true, ["F3": [.register]]),
        PlayedFlow("rfc7463-11.1", as: "Bob", registers: true, ["F7": [.register]]),
        PlayedFlow(
            "rfc8599-4.1.4", as: "Alice", directions: "><", registers: true, corrections: [";\r\n  pn-": ";pn-"],
            ["0": [.register]]),
    ]

    /// Calls from beginning to end.
    static let calls: [PlayedFlow] = [
        PlayedFlow("rfc3261-11.1", as: "Carol", directions: "<", ["end": [.answers(.options, 200)]]),
        PlayedFlow(
            "rfc3261-17.1.1.3", as: "Alice", directions: ">>", isLoose: true,
            ["0": [.call()], "1": [.answered(.invite, 486)]]),
        PlayedFlow("rfc3261-24.2", as: "Alice", ["F1": [.call()]]),
        PlayedFlow("rfc3261-24.2", as: "Bob", ["F9": [.accept()], "F13": [.acknowledged, .end()]]),
        PlayedFlow(
            "rfc3325-10.1", as: "useragent.cisco.com", directions: ">--", ["0": [.call()]]),
        PlayedFlow("rfc3325-10.1", as: "gw.pstn.net", ["end": [.refuse(), .answers(.invite, 486)]]),
        PlayedFlow("rfc3608-6.4.2", as: "UA1", ["F1": [.call()]]),
        PlayedFlow("rfc3665-3.2", as: "Alice", ["F1": [.call()]]),
        PlayedFlow("rfc3665-3.2", as: "Bob", ["F12": [.accept()], "F18": [.end()]]),
        PlayedFlow("rfc3665-3.4", as: "Bob", ["F16": [.accept()], "F20": [.end()]]),
        PlayedFlow("rfc3665-3.7", as: "Alice", ["F1": [.call()], "F12": [.end()]]),
        PlayedFlow("rfc3665-3.8", as: "Alice", ["F1": [.call()], "F9": [.end()]]),
        PlayedFlow("rfc3665-3.8", as: "Bob"),
        PlayedFlow(
            "rfc3666-2.2", as: "Alice", over: .tls,
            ["F2": [.call("sips:+19185553333@ss1.a.example.com"), .sent(.invite)], "F16": [.end()]]),
        PlayedFlow("rfc3666-2.2", as: "GW 1", over: .tls, ["F12": [.accept()]]),
        PlayedFlow(
            "rfc3666-2.4", as: "Alice",
            ["F3": [.call()]]),
        PlayedFlow("rfc3666-2.4", as: "Bob", ["F8": [.accept()], "F12": [.end()]]),
        PlayedFlow(
            "rfc3666-2.5", as: "Alice", ["F1": [.call()], "F9": [.end()]]),
        PlayedFlow(
            "rfc3666-2.6", as: "Alice", ["F2": [.call("sip:+44-1234@ss1.a.example.com"), .sent(.invite)]]),
        PlayedFlow(
            "rfc3666-2.7", as: "Alice", ["F1": [.call()]]),
        PlayedFlow("rfc3666-3.2", as: "Bob", directions: "<->--<>-", ["F5": [.accept()], "F13": [.acknowledged]]),
        PlayedFlow(
            "rfc3666-3.3", as: "Bob",
            corrections: [
                "BYE sip:bob@client.b.example.com SIP/2.0\r\n":
                    "BYE sip:bob@client.b.example.com SIP/2.0\r\nFrom: <sip:551313@gw1.a.example.com;user=phone>;tag=jwdkallkzm\r\n"
            ], ["F7": [.accept()]]),
        PlayedFlow("rfc5359-2.8", as: "Alice", over: .tls, ["F1": [.call()], "F14": [.end()]]),
        PlayedFlow("rfc5359-2.8", as: "B1", over: .tls, ["F4": [.refuse()]]),
        PlayedFlow("rfc5359-2.8", as: "B2", over: .tls, ["F10": [.accept()]]),
        PlayedFlow("rfc5359-2.9", as: "Alice", over: .tls, ["F1": [.call()], "F18": [.end()]]),
        PlayedFlow("rfc5359-2.9", as: "B1", over: .tls),
        PlayedFlow("rfc5359-2.12", as: "Alice", over: .tls, ["F1": [.call()]]),
        PlayedFlow("rfc5359-2.12", as: "B3", over: .tls, ["F14": [.refuse()]]),
        PlayedFlow("rfc5359-2.12", as: "B4", over: .tls, ["F19": [.accept()], "F23": [.end()]]),
        PlayedFlow("rfc5626-9.3", as: "Bob", directions: "----<><<", ["5": [.accept()], "end": [.answers(.bye, 200)]]),
        PlayedFlow("rfc5630-6.2", as: "Alice", over: .tls, corrections: ["Kk@pb.": "Kk@eb."], ["F9": [.call()]]),
        PlayedFlow("rfc5630-6.2", as: "Bob's phone", over: .tls, ["F20": [.accept()]]),
        PlayedFlow("rfc5630-6.3", as: "Alice", corrections: ["Kk@edge.": "Kk@eb."], ["F9": [.call()]]),
        PlayedFlow("rfc5630-6.3", as: "Bob's PC Client", corrections: ["z9hG4bKtroubaba": "z9hG4bKbiba"]),
        PlayedFlow("rfc6086-12.1.1", as: "Bob", directions: "<><", ["1": [.accept()]]),
        PlayedFlow(
            "rfc6314-5.1.4.1", as: "Bob", over: .udp, directions: "-<", ["end": [.refuse(), .answers(.invite, 486)]]),
        PlayedFlow(
            "rfc6314-5.1.4.2", as: "Bob", over: .udp, directions: "--<", ["end": [.refuse(), .answers(.invite, 486)]]),
        PlayedFlow(
            "rfc7462-14", as: "Alice", directions: "<", ["0": [.call("sip:bob@biloxi.example.com"), .sent(.invite)]]),
        PlayedFlow("rfc8119-4", as: "John", directions: "-<", ["end": [.refuse(), .answers(.invite, 486)]]),
        PlayedFlow(
            "rfc8224-5.1", as: "Alice", directions: "<", corrections: ["1928301774>": "1928301774"],
            ["end": [.refuse(), .answers(.invite, 486)]]),
    ]

    /// Hold, transfers, and calls that take another's place.
    static let changes: [PlayedFlow] = [
        PlayedFlow(
            "rfc5359-2.1", as: "Alice", over: .tls, corrections: ["12345601": "12345600"],
            ["F1": [.call()], "F22": [.end()]]),
        PlayedFlow("rfc5359-2.1", as: "Bob", over: .tls, ["F6": [.accept()], "F10": [.hold()], "F16": [.unhold()]]),
        PlayedFlow(
            "rfc5359-2.5", as: "Alice", over: .tls, directions: "><<><><" + "-------" + "<>><><>" + "-->-<<>",
            corrections: [
                "CSeq: 1025 REFER\r\n": "CSeq: 1025 REFER\r\nContact: <sips:bob@client.biloxi.example.com>\r\n"
                    + "Refer-To: <sips:39itp34klkd@chicago.example.com;gr?Replaces=sdjfdjfskdf%40biloxi.example.com"
                    + "%3Bto-tag%3D5f35a3%3Bfrom-tag%3D8675309&Require=replaces>\r\n"
            ], ["F1": [.call()]]),
        PlayedFlow(
            "rfc5359-2.5", as: "Bob", over: .tls,
            [
                "F3": [.accept()], "F5": [.hold()], "F8": [.call()], "F12": [.hold(1)],
                "F15": [.transferToOther],
            ]),
        PlayedFlow("rfc5359-2.5", as: "Carol", over: .tls, ["F10": [.accept()]]),
        PlayedFlow(
            "rfc5359-2.6", as: "Alice", over: .tls,
            corrections: ["to-tag=3145678;from-tag=1234567": "to-tag=1234567;from-tag=3145678"], ["F1": [.call()]]),
        PlayedFlow(
            "rfc5359-2.10", as: "Alice", over: .tls,
            ["F1": [.call()], "F4": [.answered(.invite, 200)], "F7": [.answers(.invite, 200)]]),
        PlayedFlow("rfc5359-2.10", as: "Carol", over: .tls, directions: "-----<-><", ["F10": [.accept()]]),
        PlayedFlow(
            "rfc5359-2.16", as: "Alice", over: .tls,
            corrections: ["=314578;": "=3145678;", "ACK sips:bob@client.biloxi": "ACK sips:bob@biloxi"],
            ["F1": [.call()], "F14": [.end(1)]]),
        PlayedFlow(
            "rfc5589-6.2", as: "Transferee", over: .tls, corrections: Self.sequences,
            ["F1": [.call()], "F4": [.answers("REFER", 202)], "F6": [.answered(.invite, 200)]]),
        PlayedFlow(
            "rfc5589-6.2", as: "Transferor", over: .tls, corrections: Self.sequences,
            [
                "F2": [.accept()], "F3": [.acknowledged, .transfer(to: "sips:transfertarget@chicago.example.com")],
                "F4": [.answered("REFER", 202)], "end": [.answers(.notify, 200), .answers(.notify, 200), .sent(.bye)],
            ]),
        PlayedFlow(
            "rfc7088-2.8.3", as: "Alice", over: .tls, corrections: ["3456 RTP/AVP 90 92": "3456 RTP/AVP 0 100"],
            ["F1": [.call()], "F6": [.sent(.ack), .reinvitedWithoutOffer(712)]]),
    ]

    /// CSeq of RFC 5589 names other methods here and there.
    private static let sequences = [
        "29888 INVITE": "29888 NOTIFY", "29889 INVITE": "29889 NOTIFY", "521 REFER": "521 INVITE",
    ]

    /// Files without a part for a user agent of this kind.
    static let without: [String: String] = [
        "rfc3261-11.2": "the answer to 11.1, whose header fields OPTIONS tests look at",
        "rfc3261-23.3": "S/MIME is not done; such a body is refused with 415",
        "rfc3428-10": "messages without a call are answered 405",
        "rfc3515-4.1": "a REFER outside a call would let strangers make us call: 403, which a test shows",
        "rfc3665-2.2": "a second contact of other kinds (mailto) is nothing a phone registers",
        "rfc3665-2.3": "the list of contacts is read from the answer to a REGISTER of our own, never asked for alone",
        "rfc3666-3.5": "the INVITE that is refused is not printed; 5359-2.8 as B1 is the same",
        "rfc3666-4.2": "between gateways",
        "rfc3856-8": "presence is not done; SUBSCRIBE is answered 405",
        "rfc3891-1": "two messages of five; 5359-2.5 as Carol and 2.16 as Alice are whole",
        "rfc3911-8.2": "tests of Join beside those of Replaces: what it names is not there, and 481 says so",
        "rfc4412-7.2": "no priorities are asked for; the header field is readable",
        "rfc4483-6.1": "content indirection is not done: 415",
        "rfc5359-2.18": "a REFER outside a call is refused, see 3515-4.1",
        "rfc5366-6": "a conference server's",
        "rfc5368-9": "a list server's",
        "rfc5373-6.3": "answering by itself at the caller's wish is not done",
        "rfc5589-6.1": "a REFER that names another call (tdialog) is refused with 420",
        "rfc5589-7.5": "the printed REFER lacks a header field; 5359-2.5 has the same",
        "rfc5626-9.1": "configuration by subscription is not done",
        "rfc5763-7.1": "keys by DTLS: the tests of encrypted calls, and the peers that do WebRTC",
        "rfc6035-4.7.1": "quality reports to collectors are not sent",
        "rfc6035-4.7.3": "quality reports to collectors are not sent",
        "rfc6086-12.2.1": "a test of its own: a package nobody agreed on is answered 469",
        "rfc6140-8.1": "a PBX that registers many numbers",
        "rfc7200-D.2": "load control between servers",
        "rfc7345-A.2": "fax",
        "rfc7463-11.10": "shared appearances are not done",
        "rfc7463-11.2": "shared appearances are not done",
        "rfc7463-11.4": "shared appearances are not done",
        "rfc7463-11.9": "shared appearances are not done",
        "rfc7866-9.1": "recording by a server is not done",
        "rfc8068-3.2.2": "recording by a server is not done",
        "rfc8068-3.2.3": "recording by a server is not done",
        "rfc8068-3.3.1": "recording by a server is not done",
        "rfc8068-3.4.1": "recording by a server is not done",
    ]
}
