package import OffhookBasics
package import OffhookMedia

/// A codec with the number it has in one direction.
package struct NegotiatedCodec: Hashable, Sendable {
    /// The registered name: `opus`, `PCMU`, `VP8` …
    package var name: String
    package var clockRate: UInt32
    package var channels: Int
    /// The number in RTP packets of this direction.
    package var payloadType: UInt8
    /// The `a=fmtp` of the receiving side: the peer's for what we send, ours for what we receive.
    package var parameters: FormatParameters
    /// The number of the codec's repeats in this direction (RFC 4588); nil where they have no stream of their own.
    package var retransmissionPayloadType: UInt8?
}

/// RFC 4733 events with the number they have in one direction.
package struct NegotiatedTelephoneEvent: Hashable, Sendable {
    package var payloadType: UInt8
    package var clockRate: UInt32
}

/// A key of SDES in use.
package struct SDESKey: Hashable, Sendable {
    package var suite: SDESSuite
    package var masterKey: [UInt8]
    package var masterSalt: [UInt8]
    package var identifier: CryptoAttribute.KeyIdentifier?
    package var lifetime: UInt64?
    package var windowSizeHint: Int?
}

/// How a stream is secured.
package enum NegotiatedSecurity: Hashable, Sendable {
    case none
    /// Keys from the descriptions: ours protects what we send, the peer's what it sends.
    case sdes(local: SDESKey, remote: SDESKey)
    /// Keys from DTLS: our role is `active` (client) or `passive` (server).
    case dtls(role: SetupRole, remote: DTLSDescription)
}

/// Why a line is not in use.
package enum DisabledReason: Hashable, Sendable {
    /// We refused it or took it away, or it was not asked for.
    case localUser
    /// The peer refused it or took it away.
    case remoteUser
    case noCommonCodec
    case unsupportedProfile
    /// No usable key where there must be one, or none allowed.
    case securityMismatch
    case unsupportedAddress
    /// Neither audio nor video, or a second line of a kind.
    case unsupportedMedia
}

/// Limits of the peer on what we send.
package struct BandwidthLimits: Hashable, Sendable {
    /// `AS`: kbit/s with IP, UDP and RTP headers.
    package var applicationSpecific: Int?
    /// `TIAS`: bit/s without headers.
    package var transportIndependent: Int?

    package init(applicationSpecific: Int? = nil, transportIndependent: Int? = nil) {
        self.applicationSpecific = applicationSpecific
        self.transportIndependent = transportIndependent
    }

    /// The bit/s of payload that both limits leave, at this many packets a second; nil without a limit.
    ///
    /// An AS limit pays for 40 bytes of IPv4, UDP and RTP headers in each packet (RFC 3890 §3).
    package func payloadBitsPerSecond(packetsPerSecond: Int) -> Int? {
        var limit = transportIndependent
        if let applicationSpecific {
            let (total, overflow) = applicationSpecific.multipliedReportingOverflow(by: 1000)
            let (overhead, tooMuch) = max(0, packetsPerSecond).multipliedReportingOverflow(by: 320)
            let left = overflow ? .max : max(0, total - (tooMuch ? total : min(total, overhead)))
            limit = min(limit ?? .max, left)
        }
        return limit
    }
}

/// Where the peer receives.
package enum RemoteDestination: Hashable, Sendable {
    case endpoint(Endpoint)
    /// A name that somebody has to look up first.
    case name(String, port: UInt16)
    /// Nothing may be sent there: `0.0.0.0`, or no address at all; with ICE the candidates tell.
    case none
}

/// What was agreed for one m-line.
package struct NegotiatedMedia: Hashable, Sendable {
    /// The place of the line in the descriptions, the same for the whole session.
    package var index: Int
    /// nil for `application`, `image` and the like, which are never enabled.
    package var kind: StreamKind?
    package var mid: String?
    /// nil while the line is in use.
    package var disabledReason: DisabledReason?
    package var isEnabled: Bool { disabledReason == nil }
    /// As the local side sees it; `inactive` while disabled.
    package var direction: MediaDirection = .inactive
    /// What the local side asked for, before the peer and hold had their say.
    package var requestedDirection: MediaDirection = .inactive
    package var profile = ""
    /// In the peer's order, with the peer's numbers; the first is the one to send.
    package var sendCodecs: [NegotiatedCodec] = []
    /// With our numbers.
    package var receiveCodecs: [NegotiatedCodec] = []
    package var sendTelephoneEvents: [NegotiatedTelephoneEvent] = []
    package var receiveTelephoneEvents: [NegotiatedTelephoneEvent] = []
    /// What both sides take.
    package var feedback: RTCPFeedback = []
    /// Those of both sides, with the numbers of our own description and the directions as seen from here.
    package var headerExtensions: [HeaderExtensionAttribute] = []
    /// Where RTP goes.
    package var remoteRTP: RemoteDestination = .none
    /// Where RTCP goes; the same as RTP with `rtcp-mux`.
    package var remoteRTCP: RemoteDestination = .none
    package var hasRTCPMux = false
    package var hasReducedSizeRTCP = false
    package var security: NegotiatedSecurity = .none
    /// The peer's `a=ptime` and `a=maxptime`, in milliseconds.
    package var packetTime: Int?
    package var maximumPacketTime: Int?
    package var bandwidth = BandwidthLimits()
    /// The peer's ICE; nil without ICE on one side or the other.
    package var remoteICE: ICEDescription?
    /// The first line of the bundle, whose address at the peer holds; its own index where the line stands alone.
    package var transportIndex: Int
    /// The stream whose transport on our side the line uses: its own kind, or in a bundle that of the line with which the
    /// bundle began, in use or not.
    package var transportKind: StreamKind?
    package var remoteSources: [SSRCAttribute] = []
    /// `a=content` of the peer has `slides`.
    package var isPresentation = false

    /// What to take for which number when packets come: our numbers, and the peer's where ours leave them free.
    ///
    /// A peer that answers with a number other than the offered one should still send by ours (RFC 3264 §6.1), yet some
    /// send by their own, which can mean nothing else here.
    package var acceptedCodecs: [NegotiatedCodec] {
        let own = Set(receiveCodecs.map(\.payloadType) + receiveTelephoneEvents.map(\.payloadType))
        return receiveCodecs + sendCodecs.filter { !own.contains($0.payloadType) }
    }

    /// The events whose clock is that of the codec we send, else the first; nil where digits cannot be sent so.
    package var sendTelephoneEvent: NegotiatedTelephoneEvent? {
        sendTelephoneEvents.first { $0.clockRate == sendCodecs.first?.clockRate } ?? sendTelephoneEvents.first
    }
}

extension NegotiatedMedia {
    /// A line that is not in use.
    init(index: Int, kind: StreamKind?, reason: DisabledReason) {
        self.index = index
        self.kind = kind
        disabledReason = reason
        transportIndex = index
        transportKind = kind
    }

    init(refused peer: PeerLine, reason: DisabledReason) {
        self.init(index: peer.index, kind: peer.kind, reason: reason)
        mid = peer.media.mid
        profile = peer.media.profile
        isPresentation = peer.media.contents.contains("slides")
    }

    /// A line in use.
    init(local: LocalLine, peer: PeerLine, match: FormatMatch, security: NegotiatedSecurity) {
        index = peer.index
        kind = local.kind
        transportIndex = peer.index
        transportKind = local.transport
        mid = peer.media.mid ?? local.mid
        direction = local.direction
        profile = local.profile
        let repeats = peer.media.retransmissionTypes
        let ownFormat = { (codec: FormatMatch.Codec) in
            local.codecs.first { $0.map.codecKey == codec.peer.map.codecKey }
        }
        sendCodecs = match.codecs.map { codec in
            var agreed = NegotiatedCodec(
                codec.capability, payloadType: codec.peer.payloadType, parameters: codec.peer.parameters)
            if ownFormat(codec)?.retransmission != nil {
                agreed.retransmissionPayloadType = repeats[codec.peer.payloadType]
            }
            return agreed
        }
        receiveCodecs = match.codecs.compactMap { codec in
            guard let own = ownFormat(codec) else { return nil }
            var agreed = NegotiatedCodec(
                codec.capability, payloadType: own.map.payloadType, parameters: own.parameters)
            if repeats[codec.peer.payloadType] != nil { agreed.retransmissionPayloadType = own.retransmission }
            return agreed
        }
        sendTelephoneEvents = match.telephoneEvents.map {
            NegotiatedTelephoneEvent(payloadType: $0.payloadType, clockRate: $0.map.clockRate)
        }
        receiveTelephoneEvents = match.telephoneEvents.compactMap { event in
            let own = local.telephoneEvents.first { $0.map.codecKey == event.map.codecKey }
            return own.map {
                NegotiatedTelephoneEvent(payloadType: $0.map.payloadType, clockRate: $0.map.clockRate)
            }
        }
        feedback = local.feedback
        headerExtensions = local.extensions
        hasRTCPMux = local.hasRTCPMux
        hasReducedSizeRTCP = local.hasReducedSizeRTCP
        remoteRTP = peer.rtpDestination
        remoteRTCP = peer.rtcpDestination(isMuxed: local.hasRTCPMux)
        self.security = security
        packetTime = peer.media.packetTime
        maximumPacketTime = peer.media.maximumPacketTime
        bandwidth = peer.bandwidth
        // Either side may have seen an address that is no candidate: then there is no ICE on the line.
        remoteICE = local.ice?.isMismatch == false && peer.ice?.isMismatch == false ? peer.ice : nil
        remoteSources = peer.media.sources
        isPresentation = peer.media.contents.contains("slides")
    }
}

extension NegotiatedCodec {
    init(_ codec: CodecCapability, payloadType: UInt8, parameters: FormatParameters) {
        name = codec.name
        clockRate = codec.clockRate
        channels = codec.channels
        self.payloadType = payloadType
        self.parameters = parameters
    }
}
