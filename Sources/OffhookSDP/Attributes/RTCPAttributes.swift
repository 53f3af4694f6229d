/// `a=rtcp`: where RTCP goes when that is not the port after RTP's (RFC 3605).
package struct RTCPAttribute: Hashable, Sendable {
    package var port: UInt16
    /// nil where the stream's own address holds.
    package var connection: ConnectionData?

    package init(port: UInt16, connection: ConnectionData? = nil) {
        self.port = port
        self.connection = connection
    }

    init?(parsing text: Substring) {
        guard let (number, rest) = text.firstField(), let port = number.number(UInt16.self) else { return nil }
        self.init(port: port, connection: ConnectionData(parsing: rest))
    }

    package var text: String { "\(port)" + (connection.map { " " + $0.text } ?? "") }
}

/// `a=rtcp-fb`: RTCP feedback that the describing side takes (RFC 4585 §4.2, RFC 5104 §7.1).
package struct RTCPFeedbackAttribute: Hashable, Sendable {
    /// nil for `*`, which means every format of the line.
    package var payloadType: UInt8?
    /// `nack`, `ccm`, `trr-int` …
    package var kind: String
    /// `pli`, `fir` … in small letters; empty for the kind by itself.
    package var parameter: String

    package init(payloadType: UInt8?, kind: String, parameter: String = "") {
        self.payloadType = payloadType
        self.kind = kind
        self.parameter = parameter
    }

    init?(parsing text: Substring) {
        let fields = text.fields()
        guard fields.count >= 2 else { return nil }
        if fields[0] == "*" {
            payloadType = nil
        } else {
            guard let number = fields[0].number(UInt8.self), number < 128 else { return nil }
            payloadType = number
        }
        kind = fields[1].lowercasedASCII
        parameter = fields[2...].map(\.lowercasedASCII).joined(separator: " ")
    }

    package var text: String {
        let head = payloadType.map(String.init) ?? "*"
        return parameter.isEmpty ? "\(head) \(kind)" : "\(head) \(kind) \(parameter)"
    }
}

/// The feedback this package knows.
package struct RTCPFeedback: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Generic NACK: single packets are asked for again.
    package static let nack = RTCPFeedback(rawValue: 1)
    /// Picture loss indication.
    package static let pictureLoss = RTCPFeedback(rawValue: 2)
    /// Full intra request (RFC 5104 §4.3.1).
    package static let fullIntra = RTCPFeedback(rawValue: 4)
    /// Temporary maximum bit rate (RFC 5104 §4.2).
    package static let temporaryMaximumBitrate = RTCPFeedback(rawValue: 8)
    /// Receiver estimated maximum bit rate, `goog-remb`.
    package static let estimatedMaximumBitrate = RTCPFeedback(rawValue: 16)
    /// Transport-wide sequence numbers, `transport-cc`.
    package static let transportWide = RTCPFeedback(rawValue: 32)

    /// Each kind with its two words, in the order in which we write them.
    static let known: [(feedback: RTCPFeedback, kind: String, parameter: String)] = [
        (.nack, "nack", ""), (.pictureLoss, "nack", "pli"), (.fullIntra, "ccm", "fir"),
        (.temporaryMaximumBitrate, "ccm", "tmmbr"), (.estimatedMaximumBitrate, "goog-remb", ""),
        (.transportWide, "transport-cc", ""),
    ]

    /// What the lines say for one format.
    package init(_ lines: [RTCPFeedbackAttribute], payloadType: UInt8) {
        self = []
        for line in lines where line.payloadType == nil || line.payloadType == payloadType {
            for known in Self.known where line.kind == known.kind {
                // `ccm tmmbr smaxpr=120` is tmmbr with a parameter.
                if line.parameter == known.parameter
                    || !known.parameter.isEmpty && line.parameter.hasPrefix(known.parameter + " ")
                {
                    formUnion(known.feedback)
                }
            }
        }
    }

    /// The lines that say this for one format.
    package func attributes(payloadType: UInt8) -> [RTCPFeedbackAttribute] {
        Self.known.filter { contains($0.feedback) }.map {
            RTCPFeedbackAttribute(payloadType: payloadType, kind: $0.kind, parameter: $0.parameter)
        }
    }
}
