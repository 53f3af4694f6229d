internal import OffhookBasics
internal import OffhookMedia

/// Our side of one line that is in use, before it is written down.
struct LocalLine: Hashable, Sendable {
    struct Format: Hashable, Sendable {
        var map: RTPMapAttribute
        var parameters: FormatParameters
        /// The number of the format's repeats (RFC 4588).
        var retransmission: UInt8?
    }

    var kind: StreamKind
    var address: IPAddress
    var stream: LocalStream
    /// The stream whose transport is used.
    var transport: StreamKind
    var profile: String
    var codecs: [Format] = []
    var telephoneEvents: [Format] = []
    var direction: MediaDirection
    var feedback: RTCPFeedback = []
    var hasRTCPMux = false
    var hasReducedSizeRTCP = false
    var crypto: [CryptoAttribute] = []
    var dtls: DTLSDescription?
    var ice: ICEDescription?
    var extensions: [HeaderExtensionAttribute] = []
    var mid: String?
    var bandwidth: Int?
    var packetTime: Int?

    /// The formats of repeats.
    private var retransmissions: [Format] {
        codecs.compactMap { format in
            format.retransmission.map { number in
                Format(
                    map: RTPMapAttribute(
                        payloadType: number, encodingName: "rtx", clockRate: format.map.clockRate, channels: 1),
                    parameters: FormatParameters("apt=\(format.map.payloadType)"))
            }
        }
    }

    /// What our numbers stand for.
    var maps: [UInt8: RTPMapAttribute] {
        Dictionary(
            (codecs + telephoneEvents).map { ($0.map.payloadType, $0.map) }, uniquingKeysWith: { first, _ in first })
    }

    /// The lines to send; `c=` only where the session's does not hold.
    func description(sessionAddress: IPAddress) -> MediaDescription {
        let retransmissions = retransmissions
        let formats = codecs + retransmissions + telephoneEvents
        var media = MediaDescription(
            kind: kind.rawValue, port: stream.port, profile: profile,
            formats: formats.map { String($0.map.payloadType) })
        if address != sessionAddress { media.append(.connection, ConnectionData(address).text) }
        if let bandwidth {
            media.append(.bandwidth, Bandwidth(.applicationSpecific, Self.withOverhead(bandwidth)).text)
            media.append(.bandwidth, Bandwidth(.transportIndependent, bandwidth).text)
        }
        for format in formats {
            media.append("rtpmap", format.map.text)
            if !format.parameters.isEmpty {
                media.append("fmtp", "\(format.map.payloadType) \(format.parameters.text)")
            }
        }
        for format in codecs {
            for line in feedback.attributes(payloadType: format.map.payloadType) { media.append("rtcp-fb", line.text) }
        }
        if let packetTime, kind == .audio { media.append("ptime", String(packetTime)) }
        media.append(direction.attributeName)
        appendTransport(to: &media)
        for line in extensions { media.append("extmap", line.text) }
        if let ssrc = stream.ssrc {
            let repeats = retransmissions.isEmpty ? nil : stream.retransmissionSSRC
            // RFC 5576 §4.2, RFC 4588 §8.3.
            if let repeats { media.append("ssrc-group", "FID \(ssrc) \(repeats)") }
            for source in [ssrc, repeats].compactMap(\.self) {
                media.append("ssrc", SSRCAttribute(ssrc: source, name: "cname", value: stream.cname ?? "-").text)
            }
        }
        media.lines += stream.attributes.map { SDPLine.attribute($0) }
        return media
    }

    private func appendTransport(to media: inout MediaDescription) {
        if let mid { media.append("mid", mid) }
        if let rtcpPort = stream.rtcpPort, !hasRTCPMux, rtcpPort != stream.port &+ 1 {
            media.append("rtcp", RTCPAttribute(port: rtcpPort).text)
        }
        if hasRTCPMux { media.append("rtcp-mux") }
        if hasReducedSizeRTCP { media.append("rtcp-rsize") }
        for line in crypto { media.append("crypto", line.text) }
        if let dtls {
            for fingerprint in dtls.fingerprints { media.append("fingerprint", fingerprint.text) }
            if let setup = dtls.setup { media.append("setup", setup.rawValue) }
            if let tlsID = dtls.tlsID { media.append("tls-id", tlsID) }
        }
        guard let ice else { return }
        guard !ice.isMismatch else { return media.append("ice-mismatch") }
        media.append("ice-ufrag", ice.userFragment)
        media.append("ice-pwd", ice.password)
        if !ice.options.isEmpty { media.append("ice-options", ice.options.joined(separator: " ")) }
        for candidate in ice.candidates { media.append("candidate", candidate.text) }
        if ice.isComplete { media.append("end-of-candidates") }
    }

    /// AS in kbit/s for so many bit/s of payload: a packet of 1,100 bytes has 40 of headers.
    private static func withOverhead(_ bitsPerSecond: Int) -> Int {
        let overhead = bitsPerSecond / 25
        let (sum, overflow) = bitsPerSecond.addingReportingOverflow(overhead)
        return overflow ? bitsPerSecond / 1000 : (max(0, sum) + 999) / 1000
    }
}
