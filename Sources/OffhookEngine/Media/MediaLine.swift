internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP

/// One audio or video line of a call: its sockets, keys and RTP.
final class MediaLine {
    let kind: StreamKind
    /// The transport of this line's own sockets, which another line of its bundle may use though this one is off.
    let ownTransport: MediaTransport
    /// The transport in use: in a bundle that of another line (RFC 9143).
    private(set) var transport: MediaTransport
    let session: RTPSession
    /// Our SDES keys, made once and offered again and again, so that no re-INVITE starts SRTP anew (RFC 4568 §7.1.4).
    private let keys: [SDESSuite: [UInt8]]
    private let identity: DTLSIdentity?
    private(set) var negotiated: NegotiatedMedia?
    private var receivedPayloadTypes: Set<UInt8> = []
    /// The header extension that names the line, and its name (RFC 9143 §15).
    private var identification: (element: UInt8, name: [UInt8])?

    init(kind: StreamKind, ports: MediaPorts, canonicalName: String, suites: [SDESSuite], core: inout EngineCore) {
        self.kind = kind
        identity = core.identity
        ownTransport = MediaTransport(ports: ports, identity: identity)
        transport = ownTransport
        var configuration = RTPSession.Configuration(
            kind: kind == .audio ? .audio : .video, canonicalName: canonicalName, seed: core.random.next(),
            clock: core.clock)
        configuration.silenceTimeout = core.configuration.mediaSilence
        session = RTPSession(configuration: configuration)
        var keys: [SDESSuite: [UInt8]] = [:]
        for suite in suites {
            guard let srtp = SRTPSuite(sdesName: suite.rawValue) else { continue }
            keys[suite] = SRTPKeys.random(suite: srtp).keyAndSalt
        }
        self.keys = keys
    }

    /// What a description says of our end.
    func localStream(address: IPAddress, ice: ICEDescription?) -> LocalStream {
        let standard = Self.defaultDestination(
            Endpoint(address, ownTransport.ports.rtpPort), control: ownTransport.ports.rtcpPort, ice: ice)
        return LocalStream(
            address: standard.rtp.address, port: standard.rtp.port, rtcpPort: standard.rtcpPort, keys: keys, ice: ice,
            dtls: identity.map { DTLSDescription(fingerprints: [FingerprintAttribute($0.fingerprint())]) },
            ssrc: session.localSSRC.rawValue,
            retransmissionSSRC: kind == .video ? session.retransmissionSSRC.rawValue : nil,
            cname: session.configuration.canonicalName)
    }

    /// Where a far end without ICE is to send: to our own address, or, where only relays may be told of, to a relay's; the
    /// default must be one of the candidates (RFC 8839 §4.2.1.2).
    private static func defaultDestination(
        _ host: Endpoint, control: UInt16, ice: ICEDescription?
    ) -> (rtp: Endpoint, rtcpPort: UInt16) {
        guard let ice, !ice.candidates.contains(where: { $0.kind == "host" }) else { return (host, control) }
        func first(_ component: UInt16) -> Endpoint? {
            ice.candidates.lazy.filter { $0.component == component }.compactMap(\.endpoint).first
        }
        guard let rtp = first(1) else { return (Endpoint(IPAddress(version4: 0), 9), 9) }
        return (rtp, first(2)?.port ?? rtp.port)
    }

    /// Takes over what was agreed.
    ///
    /// `transport` is this line's own, or in a bundle that of another. `isSilent` says that we send nothing though the direction
    /// would allow it: we hold the call.
    func apply(
        _ media: NegotiatedMedia?, on transport: MediaTransport, isBundled: Bool, isSilent: Bool,
        core: inout EngineCore, actions: inout [RTPSession.Action]
    ) {
        negotiated = media
        guard let media, media.isEnabled else {
            session.setDirections(sends: false, receives: false, at: core.now, pool: &core.pool, actions: &actions)
            return
        }
        self.transport = transport
        // In a bundle the numbers tell the lines apart, so that only ours count.
        let formats = PayloadFormat.formats(
            codecs: isBundled ? media.receiveCodecs : media.acceptedCodecs, events: media.receiveTelephoneEvents)
        receivedPayloadTypes = Set(formats.map(\.payloadType))
        session.setReceivePayloads(formats)
        session.setSendPayloads(PayloadFormat.formats(codecs: media.sendCodecs, events: media.sendTelephoneEvents))
        let received = HeaderExtensionIdentifiers(media) { $0.receives }
        session.setHeaderExtensions(
            sent: HeaderExtensionIdentifiers(media) { $0.sends }, received: received, mediaIdentification: media.mid)
        identification = received.mediaIdentification.flatMap { element in
            media.mid.map { (element, Array($0.utf8)) }
        }
        session.setTransportFeedback(isSent: media.feedback.contains(.transportWide))
        session.setRateEstimates(
            areSent: media.feedback.contains(.estimatedMaximumBitrate) && !media.feedback.contains(.transportWide))
        session.setReducedSizeReports(isUsed: media.hasReducedSizeRTCP)
        let bandwidth = media.bandwidth.payloadBitsPerSecond(packetsPerSecond: kind == .audio ? 50 : 200)
        session.setBandwidth(bandwidth ?? (kind == .audio ? 64_000 : 1_500_000))
        session.setDirections(
            sends: media.direction.sends && !isSilent, receives: media.direction.receives, at: core.now,
            pool: &core.pool, actions: &actions)
    }

    /// Tells a transport of the far end's address and keys. Throws where it cannot be secured as agreed.
    func signal(_ media: NegotiatedMedia, on transport: MediaTransport, at now: Instant) throws(SRTPError) {
        transport.signal(
            rtp: media.remoteRTP.endpoint, rtcp: media.remoteRTCP.endpoint, isMultiplexed: media.hasRTCPMux)
        switch media.security {
        case .none:
            transport.makePlain()
        case .dtls(let role, let remote):
            transport.handshake(role: role, remote: remote, at: now)
        case .sdes(let local, let remote):
            guard let outbound = SRTPKeys(local), let inbound = SRTPKeys(remote) else { throw .unavailable }
            try transport.secure(outbound: outbound, inbound: inbound)
        }
    }

    /// Whether one of this line's transports has this socket.
    func uses(_ socket: MediaSocketID) -> Bool {
        [transport.ports, ownTransport.ports].contains { $0.rtp == socket || $0.rtcp == socket }
    }

    /// Whether packets with this payload type are this line's, where several share a transport (RFC 9143 §9.2).
    func receives(payloadType: UInt8) -> Bool {
        receivedPayloadTypes.contains(payloadType)
    }

    /// Whether a packet says that it is this line's.
    func isIdentified(by header: RTPHeader, in packet: PacketBuffer) -> Bool {
        guard let identification, let place = header.extensionElement(identification.element, in: packet.bytes),
            place.count == identification.name.count
        else { return false }
        return zip(place, identification.name).allSatisfy { packet[$0] == $1 }
    }

    /// Whether media flows under protection, or none flows.
    var isSecure: Bool {
        guard let negotiated, negotiated.isEnabled else { return true }
        return transport.isSecured
    }
}

extension FingerprintAttribute {
    fileprivate init(_ fingerprint: CertificateFingerprint) {
        self.init(hash: fingerprint.algorithm.rawValue, bytes: fingerprint.bytes)
    }
}

extension SRTPKeys {
    fileprivate init?(_ key: SDESKey) {
        guard let suite = SRTPSuite(sdesName: key.suite.rawValue) else { return nil }
        self.init(
            suite: suite, keyAndSalt: key.masterKey + key.masterSalt, masterKeyIdentifier: key.identifier?.bytes ?? [])
    }
}

extension RemoteDestination {
    /// The address; a name in a description is not looked up, which RFC 8866 §5.7 lets us do and privacy asks for.
    var endpoint: Endpoint? {
        if case .endpoint(let endpoint) = self { endpoint } else { nil }
    }
}

extension HeaderExtensionIdentifiers {
    /// Those that may go the way that is asked for (RFC 8285 §5).
    fileprivate init(_ media: NegotiatedMedia, where goes: (MediaDirection) -> Bool) {
        self.init()
        for agreed in media.headerExtensions where goes(agreed.direction ?? .sendReceive) {
            let identifier = UInt8(exactly: agreed.id)
            switch agreed.uri {
            case Self.absoluteSendTimeURI: absoluteSendTime = identifier
            // Without feedback the numbers are of no use.
            case Self.transportSequenceNumberURI where media.feedback.contains(.transportWide):
                transportSequenceNumber = identifier
            case Self.mediaIdentificationURI: mediaIdentification = identifier
            default: break
            }
        }
    }
}

extension PayloadFormat {
    fileprivate static func formats(codecs: [NegotiatedCodec], events: [NegotiatedTelephoneEvent]) -> [PayloadFormat] {
        codecs.flatMap { codec in
            let format = PayloadFormat(
                payloadType: codec.payloadType, codec: Codec(name: codec.name.lowercased()),
                clockRate: Int(codec.clockRate))
            guard let repeats = codec.retransmissionPayloadType else { return [format] }
            return [
                format,
                PayloadFormat(
                    payloadType: repeats, codec: .retransmission(of: codec.payloadType),
                    clockRate: format.clockRate),
            ]
        }
            + events.map {
                PayloadFormat(payloadType: $0.payloadType, codec: .telephoneEvent, clockRate: Int($0.clockRate))
            }
    }
}

extension PayloadFormat.Codec {
    fileprivate init(name: String) {
        self =
            switch name {
            case "opus": .opus
            case "pcmu": .pcmu
            case "pcma": .pcma
            case "vp8": .vp8
            default: .otherAudio(name)
            }
    }
}
