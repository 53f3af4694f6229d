/// One `m=` line with the lines below it: one stream (RFC 8866 §5.14).
package struct MediaDescription: Hashable, Sendable, SDPSection {
    /// `audio`, `video`, `application` …
    package var kind: String
    /// 0 where the stream is refused or gone, unless it is bundle-only (RFC 9143 §6).
    package var port: UInt16
    /// The number after the port's slash: how many ports in a row; 1 without it.
    package var portCount: Int
    /// `RTP/AVP`, `UDP/TLS/RTP/SAVPF` …, as written.
    package var profile: String
    /// The format list as written; for RTP, payload type numbers.
    package var formats: [String]
    package var lines: [SDPLine]

    package init(
        kind: String, port: UInt16, portCount: Int = 1, profile: String, formats: [String], lines: [SDPLine] = []
    ) {
        self.kind = kind
        self.port = port
        self.portCount = portCount
        self.profile = profile
        self.formats = formats
        self.lines = lines
    }

    /// The payload types of the format list: 0 to 127, each once, in order.
    package var payloadTypes: [UInt8] {
        var isListed = [Bool](repeating: false, count: 128)
        var numbers: [UInt8] = []
        for format in formats {
            guard let number = format[...].number(UInt8.self), number < 128, !isListed[Int(number)] else { continue }
            isListed[Int(number)] = true
            numbers.append(number)
        }
        return numbers
    }

    package var rtpMaps: [RTPMapAttribute] { values(of: "rtpmap").compactMap { RTPMapAttribute(parsing: $0) } }

    /// The `a=fmtp` lines, by format.
    package var formatParameters: [FormatParametersAttribute] {
        values(of: "fmtp").compactMap { FormatParametersAttribute(parsing: $0) }
    }

    package var feedback: [RTCPFeedbackAttribute] {
        values(of: "rtcp-fb").compactMap { RTCPFeedbackAttribute(parsing: $0) }
    }

    package var cryptoLines: [CryptoAttribute] { values(of: "crypto").compactMap { CryptoAttribute(parsing: $0) } }

    package var candidates: [ICECandidateAttribute] {
        values(of: "candidate", limit: 256).compactMap { ICECandidateAttribute(parsing: $0) }
    }

    /// `a=ptime` in milliseconds.
    package var packetTime: Int? { milliseconds("ptime") }
    /// `a=maxptime` in milliseconds.
    package var maximumPacketTime: Int? { milliseconds("maxptime") }
    /// `a=framerate`, frames in a second.
    package var frameRate: Double? {
        guard let text = value(of: "framerate"), let rate = Double(text), rate.isFinite, rate > 0 else { return nil }
        return rate
    }

    /// `a=rtcp` (RFC 3605).
    package var rtcp: RTCPAttribute? {
        values(of: "rtcp").lazy.compactMap { RTCPAttribute(parsing: $0) }.first
    }

    /// `a=rtcp-mux`, also where only `rtcp-mux-only` says it (RFC 8858 §4.2 wants both).
    package var hasRTCPMux: Bool { hasAttribute("rtcp-mux") || hasAttribute("rtcp-mux-only") }
    package var hasReducedSizeRTCP: Bool { hasAttribute("rtcp-rsize") }
    package var isBundleOnly: Bool { hasAttribute("bundle-only") }
    package var mid: String? { value(of: "mid").map(String.init) }
    package var label: String? { value(of: "label").map(String.init) }
    /// `a=content` (RFC 4796): `main`, `slides` …
    package var contents: [String] {
        value(of: "content").map { $0.parts(separatedBy: ",").map { $0.trimmed.lowercasedASCII } } ?? []
    }

    package var sources: [SSRCAttribute] { values(of: "ssrc").compactMap { SSRCAttribute(parsing: $0) } }
    package var sourceGroups: [SSRCGroupAttribute] {
        values(of: "ssrc-group").compactMap { SSRCGroupAttribute(parsing: $0) }
    }

    private func milliseconds(_ name: String) -> Int? {
        // Some peers write 20.0; what follows the dot does not matter.
        guard let number = value(of: name)?.cut(at: ".").head.number(Int.self), (1...10_000).contains(number) else {
            return nil
        }
        return number
    }
}
