package import OffhookBasics

/// Requests of ours: finding the way, trying targets, cancelling (RFC 3261 §8.1.2, §18.1; RFC 3263).
extension SIPUserAgent {
    /// Sends a request, or sends it again with credentials.
    mutating func start(_ id: RequestID, _ request: SIPRequest, at now: Instant, actions: inout [Action]) {
        if var entry = outgoing[id] {
            entry.request = request
            entry.hasResponse = false
            if let route = entry.route {
                entry.candidates.insert(.init(route: route, isSizeChecked: true), at: 0)
                outgoing[id] = entry
                attempt(id, at: now, actions: &actions)
                return
            }
        }
        var entry = OutgoingRequest(id: id, request: request, phase: .active)
        switch way(for: request, session: id.session) {
        case .route(let route):
            entry.candidates = [.init(route: route)]
            outgoing[id] = entry
            note(id)
            attempt(id, at: now, actions: &actions)
        case .routes(let routes):
            entry.candidates = routes.map { .init(route: $0) }
            outgoing[id] = entry
            note(id)
            attempt(id, at: now, actions: &actions)
        case .query(let query):
            let token = makeToken()
            resolutions[token] = .request(id)
            entry.phase = .resolving(token)
            entry.deadline = now + configuration.timers.giveUp
            outgoing[id] = entry
            note(id)
            deadlines.set(entry.deadline, for: .request(id))
            actions.append(.resolve(query, token))
        case .nowhere:
            outgoing[id] = entry
            note(id)
            fail(id, .unresolved, at: now, actions: &actions)
            drop(id)
        }
    }

    private mutating func note(_ id: RequestID) {
        if let session = id.session { sessions[session]?.openRequests.insert(id) }
    }

    /// Sends a request to its next target.
    private mutating func attempt(_ id: RequestID, at now: Instant, actions: inout [Action]) {
        guard var entry = outgoing[id], !entry.candidates.isEmpty else { return }
        var candidate = entry.candidates.removeFirst()
        let contact = id.session.flatMap { sessions[$0]?.contact }
        var request = stamped(
            entry.request, for: candidate.route, isSizeChecked: candidate.isSizeChecked, contact: contact)
        if let limit = configuration.datagramLimit, candidate.route.target.transport == .udp, !candidate.isSizeChecked,
            request.write().count > limit
        {
            // Too long for a datagram: over a stream first, and by UDP only if no stream can be had.
            entry.candidates.insert(.init(route: candidate.route, isSizeChecked: true), at: 0)
            candidate.isSizeChecked = true
            var route = candidate.route
            route.target.transport = .tcp
            candidate = .init(route: route, isSizeChecked: true)
            request = stamped(entry.request, for: route, isSizeChecked: true, contact: contact)
        }
        entry.route = candidate.route
        entry.phase = .active
        entry.deadline = nil
        deadlines.set(nil, for: .request(id))
        if let session = id.session { sessions[session]?.lastRoute = candidate.route }
        var outputs: [TransactionTable.Output] = []
        let transaction = table.start(request, to: candidate.route.target, at: now, outputs: &outputs)
        entry.transaction = transaction
        outgoing[id] = entry
        requestsByTransaction[transaction] = id
        process(outputs, at: now, actions: &actions)
    }

    /// The request with Via, Contact and what else every request of ours has.
    mutating func stamped(
        _ request: SIPRequest, for route: TransportRoute, isSizeChecked: Bool, contact: NameAddress? = nil
    ) -> SIPRequest {
        var request = request
        if !request.headers.contains(.maxForwards) { request.headers.maxForwards = 70 }
        if !request.headers.contains(.contact), Self.methodsWithContact.contains(request.method) {
            // A Contact says how to reach us, not how long this one message is.
            let namesTransport = !(isSizeChecked && route.target.transport == .tcp)
            request.headers.contacts = [
                contact
                    ?? self.contact(
                        for: route, isSecure: request.uri.scheme == "sips", namesTransport: namesTransport)
            ]
        }
        if let product = configuration.product { request.headers[first: .userAgent] = product }
        let local = advertised(route)
        var via = Via(
            transport: route.target.transport.viaName, host: SIPHost(local.address), port: Self.named(local.port))
        via.parameters.setFlag("rport")
        via.branch = "z9hG4bK" + random.token(length: 16)
        request.headers.topVia = via
        return request
    }

    private static let methodsWithContact: Set<SIPMethod> = [.invite, .update, .refer, .subscribe, .notify, .options]

    func contact(for route: TransportRoute, isSecure: Bool, namesTransport: Bool = true) -> NameAddress {
        let local = advertised(route)
        var uri = SIPURI(
            isSecure: isSecure, user: configuration.contactUser, host: SIPHost(local.address),
            port: Self.named(local.port))
        let transport = route.target.transport
        if namesTransport, transport != .udp, !(isSecure && transport == .tls) { uri.transport = transport.rawValue }
        return NameAddress(uri: .sip(uri))
    }

    /// A port as messages name it; where nothing listens there is none to name.
    private static func named(_ port: UInt16) -> UInt16? {
        port == 0 ? nil : port
    }

    /// Where others reach us.
    package func advertised(_ route: TransportRoute) -> Endpoint {
        let port = configuration.listeningPorts[route.target.transport] ?? route.local.port
        return Endpoint(route.local.address, port)
    }

    // MARK: The way

    enum Way {
        case route(TransportRoute)
        /// One after the other, until one answers.
        case routes([TransportRoute])
        case query(ResolveQuery)
        case nowhere
    }

    /// Where a request goes: the session's fixed route, else its first Route or its Request-URI (RFC 3261 §8.1.2).
    func way(for request: SIPRequest, session: SessionID?) -> Way {
        let record = session.flatMap { sessions[$0] }
        if let fixed = record?.fixedRoute { return .route(fixed) }
        if let first = record?.firstRoutes, !first.isEmpty, request.method == .invite, request.headers.to?.tag == nil {
            return .routes(first)
        }
        guard let uri = (request.headers.route.first?.uri ?? request.uri).sip else { return .nowhere }
        let host = uri.parameters["maddr"].map { SIPHost($0) } ?? uri.host
        let isSecure = uri.isSecure
        let transport = uri.transport.flatMap { SIPTransport(name: $0) }
        guard let address = host.address else {
            return .query(ResolveQuery(host: host, port: uri.port, transport: transport, isSecure: isSecure))
        }
        let chosen = isSecure && transport?.isSecure != true ? .tls : transport ?? .udp
        let remote = Endpoint(address, uri.port ?? chosen.defaultPort)
        guard let last = record?.lastRoute, last.target.remote.address == address, last.target.transport == chosen
        else { return .query(ResolveQuery(host: host, port: remote.port, transport: chosen, isSecure: isSecure)) }
        let isSame = last.target.remote == remote
        let target = TransportTarget(
            transport: chosen, remote: remote, connection: isSame ? last.target.connection : nil,
            domain: isSame ? last.target.domain ?? host.text : host.text)
        return .route(TransportRoute(target: target, local: last.local))
    }

    mutating func makeToken() -> ResolveToken {
        tokenCount += 1
        return ResolveToken(number: tokenCount)
    }

    mutating func continueResolved(
        _ token: ResolveToken, routes: [TransportRoute], at now: Instant, actions: inout [Action]
    ) {
        switch resolutions.removeValue(forKey: token) {
        case .request(let id):
            guard case .resolving(token)? = outgoing[id]?.phase else { return }
            guard !routes.isEmpty else {
                fail(id, .unresolved, at: now, actions: &actions)
                drop(id)
                return
            }
            outgoing[id]?.candidates = routes.map { OutgoingRequest.Candidate(route: $0) }
            attempt(id, at: now, actions: &actions)
        case .acknowledgement(let transaction, let session, let tag, let request):
            guard let route = routes.first else { return }
            sendAcknowledgement(request, by: route, session, tag: tag, transaction, actions: &actions)
        case nil:
            break
        }
    }

    // MARK: ACK of 2xx

    mutating func acknowledge(
        _ id: RequestID, tag: String, _ request: SIPRequest, actions: inout [Action]
    ) {
        guard let transaction = outgoing[id]?.transaction else { return }
        switch way(for: request, session: id.session) {
        case .route(let route):
            sendAcknowledgement(request, by: route, id.session, tag: tag, transaction, actions: &actions)
        case .routes(let routes):
            guard let route = routes.first else { return }
            sendAcknowledgement(request, by: route, id.session, tag: tag, transaction, actions: &actions)
        case .query(let query):
            let token = makeToken()
            resolutions[token] = .acknowledgement(transaction, id.session, tag: tag, request)
            actions.append(.resolve(query, token))
        case .nowhere:
            break  // A 2xx whose Contact cannot be reached at all; its sender will give up and say BYE.
        }
    }

    private mutating func sendAcknowledgement(
        _ request: SIPRequest, by route: TransportRoute, _ session: SessionID?, tag: String,
        _ transaction: ClientTransactionID, actions: inout [Action]
    ) {
        if let session { sessions[session]?.lastRoute = route }
        let bytes = stamped(request, for: route, isSizeChecked: true).write()
        // Kept for as long as the 2xx may be repeated.
        if requestsByTransaction[transaction] != nil {
            acknowledgements[transaction, default: [:]][tag] = SentMessage(bytes: bytes, target: route.target)
        }
        actions.append(.send(bytes, to: route.target))
    }

    // MARK: Responses

    mutating func receive(
        _ response: SIPResponse, of transaction: ClientTransactionID, from source: TransportTarget, at now: Instant,
        actions: inout [Action]
    ) {
        // Responses to a CANCEL, and those of an attempt that was given up, concern nobody.
        guard let id = requestsByTransaction[transaction], var entry = outgoing[id], entry.transaction == transaction
        else { return }
        let isAcceptance = transaction.method == .invite && (200..<300).contains(response.status)
        if isAcceptance, let sent = acknowledgements[transaction]?[response.headers.to?.tag ?? ""] {
            actions.append(.send(sent.bytes, to: sent.target))
            return
        }
        entry.hasResponse = true
        if let local = entry.route?.local, let session = id.session {
            sessions[session]?.lastRoute = TransportRoute(target: source, local: local)
        }
        var response = response
        if response.status < 200 {
            outgoing[id] = entry
            sendCancelIfDue(id, at: now, actions: &actions)
        } else if response.status == 503, !entry.candidates.isEmpty, entry.cancelReasons == nil {
            outgoing[id] = entry
            attempt(id, at: now, actions: &actions)
            return
        } else if response.isChallenge, entry.cancelReasons == nil, entry.challengeCount < 5 {
            entry.challengeCount += 1
            entry.phase = .challenged(response)
            entry.deadline = now + configuration.decisionLimit
            outgoing[id] = entry
            deadlines.set(entry.deadline, for: .request(id))
        } else {
            response.removeChallenges()
            entry.phase = .finished
            entry.deadline = nil
            outgoing[id] = entry
            deadlines.set(nil, for: .request(id))
        }
        deliver(response, id, from: source, at: now, actions: &actions)
    }

    private mutating func deliver(
        _ response: SIPResponse, _ id: RequestID, from source: TransportTarget, at now: Instant,
        actions: inout [Action]
    ) {
        if let session = id.session {
            change(session, at: now, actions: &actions) { $0.receive(response, for: id, at: now, actions: &$1) }
        } else if response.isChallenge {
            actions.append(.requestEvent(id, .authenticationRequired(response)))
        } else if response.status < 200 {
            actions.append(.requestEvent(id, .provisional(response)))
        } else {
            actions.append(.requestEvent(id, .finished(response, from: source)))
        }
    }

    /// No response came from the latest target: the next one, or failure.
    mutating func attemptFailed(
        _ transaction: ClientTransactionID, _ failure: RequestFailure, at now: Instant, actions: inout [Action]
    ) {
        guard let id = requestsByTransaction[transaction], let entry = outgoing[id], entry.transaction == transaction
        else { return }
        if !entry.candidates.isEmpty, !entry.hasResponse, entry.cancelReasons == nil {
            attempt(id, at: now, actions: &actions)
        } else {
            fail(id, failure, at: now, actions: &actions)
        }
    }

    mutating func fail(_ id: RequestID, _ failure: RequestFailure, at now: Instant, actions: inout [Action]) {
        if case .resolving(let token)? = outgoing[id]?.phase { resolutions[token] = nil }
        outgoing[id]?.phase = .finished
        outgoing[id]?.deadline = nil
        deadlines.set(nil, for: .request(id))
        if let session = id.session {
            change(session, at: now, actions: &actions) { $0.requestFailed(failure, for: id, at: now, actions: &$1) }
        } else {
            actions.append(.requestEvent(id, .failed(failure)))
        }
    }

    /// Forgets a request that has no transaction.
    mutating func drop(_ id: RequestID) {
        guard let entry = outgoing.removeValue(forKey: id) else { return }
        deadlines.set(nil, for: .request(id))
        if case .resolving(let token) = entry.phase { resolutions[token] = nil }
        if let session = id.session {
            sessions[session]?.openRequests.remove(id)
            reap(session)
        }
    }

    mutating func transactionEnded(_ transaction: ClientTransactionID) {
        acknowledgements[transaction] = nil
        for (token, resolution) in resolutions {
            if case .acknowledgement(transaction, _, _, _) = resolution { resolutions[token] = nil }
        }
        guard let id = requestsByTransaction.removeValue(forKey: transaction), let entry = outgoing[id],
            entry.transaction == transaction
        else { return }
        switch entry.phase {
        case .finished, .active: drop(id)
        case .resolving, .challenged: outgoing[id]?.transaction = nil
        }
    }

    // MARK: CANCEL

    mutating func cancel(_ id: RequestID, reasons: [SIPReason], at now: Instant, actions: inout [Action]) {
        guard let entry = outgoing[id] else { return }
        switch entry.phase {
        case .resolving, .challenged:
            fail(id, .timedOut, at: now, actions: &actions)
            if outgoing[id]?.transaction == nil { drop(id) }
        case .active:
            outgoing[id]?.cancelReasons = reasons
            sendCancelIfDue(id, at: now, actions: &actions)
        case .finished:
            break
        }
    }

    /// Sends the CANCEL once a provisional response allows it (RFC 3261 §9.1).
    private mutating func sendCancelIfDue(_ id: RequestID, at now: Instant, actions: inout [Action]) {
        guard var entry = outgoing[id], let reasons = entry.cancelReasons, !entry.isCancelSent,
            let transaction = entry.transaction, table.isProceeding(transaction)
        else { return }
        entry.isCancelSent = true
        entry.deadline = now + configuration.timers.giveUp
        outgoing[id] = entry
        deadlines.set(entry.deadline, for: .request(id))
        var outputs: [TransactionTable.Output] = []
        table.cancel(transaction, reasons: reasons, at: now, outputs: &outputs)
        process(outputs, at: now, actions: &actions)
    }

    mutating func requestTimedOut(_ id: RequestID, at now: Instant, actions: inout [Action]) {
        guard let entry = outgoing[id], let deadline = entry.deadline, now >= deadline else { return }
        switch entry.phase {
        case .resolving:
            fail(id, .unresolved, at: now, actions: &actions)
            drop(id)
        case .challenged:
            declineAuthorization(id, at: now, actions: &actions)
        case .active:
            // No final response followed our CANCEL (RFC 3261 §9.1).
            fail(id, .timedOut, at: now, actions: &actions)
            guard let transaction = entry.transaction else { return }
            var outputs: [TransactionTable.Output] = []
            table.abandon(transaction, outputs: &outputs)
            process(outputs, at: now, actions: &actions)
        case .finished:
            break
        }
    }
}

extension SIPResponse {
    mutating func removeChallenges() {
        headers.remove(.wwwAuthenticate)
        headers.remove(.proxyAuthenticate)
    }
}
