internal import OffhookBasics
internal import OffhookMedia

extension OfferAnswer {
    /// Makes an offer of what is wanted. An open offer of either side is taken back first.
    ///
    /// Lines keep their places, keys in force are repeated as they are, and while the peer holds the call nothing in
    /// the offer asks to send: that would lift the hold in the eyes of many a peer. One that the peer asks for has all that we
    /// want, for the peer can say in its answer that it goes on holding (RFC 6337 §5.3).
    package mutating func makeOffer(_ wishes: MediaWishes, isAskedFor: Bool = false) -> SessionDescription {
        rollback()
        wantsOfferWithoutBundle = false
        var lines: [Int: LocalLine] = [:]
        var places = agreement.lines.count
        var transports = Set(StreamKind.allCases.compactMap { agreement.transport(inUseBy: $0) })
        for kind in StreamKind.allCases {
            guard let stream = wishes.stream(kind), let direction = wishes.direction(kind) else { continue }
            let index = place(for: kind, taken: lines) ?? places
            // A line in use stays on its transport (RFC 9143 §7.2.2); a new one has one that nobody uses.
            let transport = agreement.transport(inUseBy: kind) ?? (transports.contains(kind) ? kind.other : kind)
            transports.insert(transport)
            let shared = wishes.transport(transport)
            guard
                let line = offeredLine(
                    kind, at: index, stream: shared.map(stream.sharing) ?? stream,
                    on: shared == nil ? kind : transport,
                    direction: agreement.isRemotelyHeld && !isAskedFor
                        ? direction.intersection(.receiveOnly) : direction)
            else { continue }
            places = max(places, index + 1)
            lines[index] = line
        }
        let description = describe(lines, count: places, groups: [groupOrder(of: lines)])
        var requested: [StreamKind: MediaDirection] = [:]
        for kind in StreamKind.allCases { requested[kind] = wishes.requestedDirection(kind) }
        state = .localOffer(
            LocalOffer(description: description, lines: lines, requestedDirections: requested, before: agreement))
        return description
    }

    /// The line in use, else a zeroed one of the kind; nil asks for a new one.
    private func place(for kind: StreamKind, taken: [Int: LocalLine]) -> Int? {
        agreement.indexInUse(kind)
            ?? agreement.lines.indices.first { index in
                agreement.lines[index].kind == kind.rawValue && !agreement.media[index].isEnabled
                    && taken[index] == nil
            }
    }

    /// Our line as offered; nil where the policy asks for keys that are not there, or no codec is left.
    private mutating func offeredLine(
        _ kind: StreamKind, at index: Int, stream: LocalStream, on transport: StreamKind, direction: MediaDirection
    ) -> LocalLine? {
        guard let address = stream.addresses.first else { return nil }
        let inUse = index < agreement.media.count && agreement.media[index].isEnabled ? agreement.media[index] : nil
        let memory = index < agreement.lines.count ? agreement.lines[index] : nil
        let fresh = TransportProfile(
            offering: capabilities.security, hasFeedback: capabilities.offersFeedbackProfile)
        var line = LocalLine(
            kind: kind, address: address, stream: stream, transport: transport,
            profile: inUse?.profile ?? fresh.name, direction: direction)
        guard secure(&line, inUse: inUse, memory: memory) else { return nil }
        appendFormats(to: &line, at: index)
        guard !line.codecs.isEmpty else { return nil }
        line.feedback = kind == .video ? capabilities.videoFeedback : capabilities.audioFeedback
        line.hasRTCPMux = capabilities.hasRTCPMux && inUse?.hasRTCPMux ?? true
        line.hasReducedSizeRTCP = capabilities.hasReducedSizeRTCP
        line.ice = stream.ice
        line.extensions = offeredExtensions(kind, memory: memory)
        line.mid = name(of: index, isInUse: inUse != nil, memory)
        line.bandwidth = kind == .video ? capabilities.videoBandwidth : nil
        line.packetTime = capabilities.packetTime
        return line
    }

    /// Puts keys into the line; false where the policy wants some and there are none.
    private func secure(_ line: inout LocalLine, inUse: NegotiatedMedia?, memory: LineMemory?) -> Bool {
        switch inUse?.security {
        case .some(.none):
            return true
        case .sdes:
            // RFC 4568 §7.1.4: what is in force, and nothing else, so that nobody starts anew.
            guard let crypto = memory?.crypto else { return false }
            line.crypto = [crypto]
            return true
        case .dtls:
            line.dtls = offeredDTLS(line.stream)
            return line.dtls != nil
        case nil:
            let policy = capabilities.security
            if policy.allowsSDES {
                for suite in capabilities.cryptoSuites {
                    guard let key = line.stream.keys[suite], key.count == suite.inlineLength else { continue }
                    line.crypto.append(CryptoAttribute(tag: UInt32(line.crypto.count) + 1, suite: suite, key: key))
                }
            }
            if policy.allowsDTLS, capabilities.hasDTLS { line.dtls = offeredDTLS(line.stream) }
            return policy.allowsPlain || !line.crypto.isEmpty || line.dtls != nil
        }
    }

    /// An offer leaves the role to the peer, always (RFC 8842 §5.2), unless the caller has set one.
    private func offeredDTLS(_ stream: LocalStream) -> DTLSDescription? {
        guard var dtls = stream.dtls else { return nil }
        dtls.setup = dtls.setup ?? .activeOrPassive
        return dtls
    }

    private mutating func appendFormats(to line: inout LocalLine, at index: Int) {
        let codecs = line.kind == .audio ? capabilities.audio : capabilities.video
        for codec in codecs {
            guard let number = number(for: codec, at: index) else { continue }
            var format = LocalLine.Format(map: codec.map(payloadType: number), parameters: codec.parameters)
            if line.kind == .video, capabilities.hasRetransmission {
                format.retransmission = self.number(
                    forKey: PayloadNumbers.retransmissionKey(of: number), preferring: nil, at: index)
            }
            line.codecs.append(format)
        }
        guard line.kind == .audio, capabilities.hasTelephoneEvents else { return }
        var clocks: [UInt32] = []
        for codec in line.codecs where !clocks.contains(codec.map.clockRate) { clocks.append(codec.map.clockRate) }
        for clock in clocks {
            let event = CodecCapability.telephoneEvent(clockRate: clock)
            guard let number = number(for: event, at: index) else { continue }
            line.telephoneEvents.append(
                LocalLine.Format(map: event.map(payloadType: number), parameters: event.parameters))
        }
    }

    /// The number the codec has on this line, or a new one that has never stood for anything in this session.
    private mutating func number(for codec: CodecCapability, at index: Int) -> UInt8? {
        number(forKey: codec.map(payloadType: 0).codecKey, preferring: codec.payloadType, at: index)
    }

    private mutating func number(forKey key: String, preferring preferred: UInt8?, at index: Int) -> UInt8? {
        while numbers.count <= index { numbers.append(PayloadNumbers()) }
        if let number = numbers[index].number(of: key) { return number }
        let isFree = { (number: UInt8) in !numbers.contains { $0.hasUsed(number) } }
        // 64 to 95 would look like RTCP where both share a port (RFC 5761 §4).
        let pool = Array(96...127) + Array(UInt8(35)...63)
        guard let number = (preferred.map { [$0] + pool } ?? pool).first(where: isFree) else { return nil }
        numbers[index].bind(number, to: key)
        return number
    }

    /// The name of a line as it is in use; a new one for a line that is not. None where the session does without names.
    private mutating func name(of index: Int, isInUse: Bool, _ memory: LineMemory?) -> String? {
        let former = memory?.mid
        if isInUse, let former { return former }
        guard former != nil || capabilities.canBundle else { return nil }
        return names.name(of: index, former: former)
    }

    private mutating func offeredExtensions(_ kind: StreamKind, memory: LineMemory?) -> [HeaderExtensionAttribute] {
        let own = kind == .audio ? capabilities.audioExtensions : capabilities.videoExtensions
        // What the far end has offered once, it knows.
        let known = capabilities.answeredExtensions.filter { memory?.extensionIDs[$0] != nil } + own
        let agreed = agreement.lines.map(\.extensionIDs)
        return known.compactMap { uri in
            guard let id = memory?.extensionIDs[uri] ?? extensionNumbers.number(of: uri, agreed: agreed) else {
                return nil
            }
            return HeaderExtensionAttribute(id: id, uri: uri)
        }
    }

    /// The lines of our bundle; the one whose transport it is comes first.
    private func groupOrder(of lines: [Int: LocalLine]) -> [Int] {
        let order = lines.keys.sorted()
        let tagged = order.first { $0 < agreement.media.count && agreement.media[$0].isEnabled }
        guard let tagged, lines[agreement.media[tagged].transportIndex] != nil else { return order }
        return order.taggedFirst { $0 == agreement.media[tagged].transportIndex } ?? order
    }

    /// The whole description: lines in use as they are, all others at port 0.
    mutating func describe(
        _ lines: [Int: LocalLine], count: Int, groups: [[Int]], refused: [Int: LineMemory] = [:]
    ) -> SessionDescription {
        let first = lines.keys.min().flatMap { lines[$0] }
        let address = first?.address ?? identity.address
        var head: [SDPLine] = [
            .field(.sessionName, "-"), .field(.connection, ConnectionData(address).text), .field(.time, "0 0"),
        ]
        for group in groups where capabilities.canBundle {
            let mids = group.compactMap { lines[$0]?.mid }
            guard !mids.isEmpty else { continue }
            head.append(.attribute(SDPAttribute("group", GroupAttribute(semantics: "BUNDLE", mids: mids).text)))
        }
        if lines.values.contains(where: { $0.ice?.isLite == true }) {
            head.append(.attribute(SDPAttribute("ice-lite")))
        }
        let media = (0..<count).map { index in
            if let line = lines[index] { return line.description(sessionAddress: address) }
            if let memory = refused[index] { return memory.zeroed }
            return index < agreement.lines.count
                ? agreement.lines[index].zeroed
                : MediaDescription(kind: "audio", port: 0, profile: "RTP/AVP", formats: ["0"])
        }
        return identity.sign(lines: head, media: media)
    }
}

extension CodecCapability {
    /// Digits and the like (RFC 4733), at the clock of the codec beside them.
    static func telephoneEvent(clockRate: UInt32) -> CodecCapability {
        CodecCapability(
            "telephone-event", clockRate: clockRate, payloadType: clockRate == 8000 ? 101 : 100, parameters: "0-15")
    }
}
