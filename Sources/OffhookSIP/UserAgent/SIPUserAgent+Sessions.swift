internal import OffhookBasics

/// Sessions: changing one, and doing what it wants.
extension SIPUserAgent {
    mutating func makeSessionID() -> SessionID {
        sessionCount += 1
        return SessionID(number: sessionCount)
    }

    /// Puts in what names a request of ours: From with a tag, To, Call-ID and CSeq (RFC 3261 §8.1.1).
    mutating func fillIdentity(of request: inout SIPRequest, from: NameAddress?, to uri: URI) {
        var from = from ?? NameAddress(uri: .sip(SIPURI(user: "anonymous", host: SIPHost("anonymous.invalid"))))
        if from.tag == nil { from.tag = random.token(length: 10) }
        request.headers.from = from
        if !request.headers.contains(.to) {
            var target = uri
            if case .sip(var plain) = uri {
                plain.headers = []
                target = .sip(plain)
            }
            request.headers.to = NameAddress(uri: target)
        }
        if !request.headers.contains(.callID) { request.headers.callID = random.token(length: 24) }
        if !request.headers.contains(.cseq) { request.headers.cseq = CSeq(1, request.method) }
    }

    /// Changes a session and does what it then wants.
    mutating func change(
        _ id: SessionID, at now: Instant, actions: inout [Action],
        _ body: (inout InviteSession, inout [SessionAction]) -> Void
    ) {
        guard var record = sessions.removeValue(forKey: id) else { return }
        var output: [SessionAction] = []
        body(&record.session, &output)
        sessions[id] = record
        perform(output, of: id, at: now, actions: &actions)
        settle(id)
    }

    mutating func perform(
        _ output: [SessionAction], of id: SessionID, at now: Instant, actions: inout [Action]
    ) {
        for action in output {
            switch action {
            case .send(let request, let message): start(request, message, at: now, actions: &actions)
            case .cancel(let request, let reasons): cancel(request, reasons: reasons, at: now, actions: &actions)
            case .acknowledge(let request, let tag, let message):
                acknowledge(request, tag: tag, message, actions: &actions)
            case .respond(let response, let transaction):
                send(withContact(response, of: id), transaction, at: now, actions: &actions)
            case .event(let event): actions.append(.event(id, event))
            case .opened(let dialog): sessionsByDialog[dialog] = id
            case .closed(let dialog): sessionsByDialog[dialog] = nil
            case .replace(let other):
                change(other, at: now, actions: &actions) {
                    $0.end(SessionEnd(cause: .replaced(id)), reasons: [], at: now, actions: &$1)
                }
            }
        }
    }

    /// Notes a session's deadline, or forgets the session if it has nothing left to do.
    mutating func settle(_ id: SessionID) {
        guard let record = sessions[id] else { return }
        deadlines.set(record.session.nextDeadline, for: .session(id))
        guard record.session.isClosed else { return }
        for request in record.openRequests {
            // Nobody will give credentials for a session that is gone.
            if case .challenged? = outgoing[request]?.phase { drop(request) }
        }
        reap(id)
    }

    mutating func reap(_ id: SessionID) {
        guard let record = sessions[id], record.session.isClosed, record.openRequests.isEmpty else { return }
        sessions[id] = nil
        deadlines.set(nil, for: .session(id))
    }

    mutating func send(
        _ response: SIPResponse, _ transaction: ServerTransactionID, at now: Instant, actions: inout [Action]
    ) {
        var response = response
        if let product = configuration.product, response.status > 100 {
            response.headers[first: .server] = product
        }
        var outputs: [TransactionTable.Output] = []
        table.respond(response, to: transaction, at: now, outputs: &outputs)
        process(outputs, at: now, actions: &actions)
    }

    /// Puts our Contact into a response that makes or refreshes a dialog (RFC 3261 §12.1.1).
    private func withContact(_ response: SIPResponse, of id: SessionID) -> SIPResponse {
        guard (101..<300).contains(response.status), !response.headers.contains(.contact),
            let method = response.headers.cseq?.method, method == .invite || method == .update || method == .refer,
            let record = sessions[id], let route = record.lastRoute
        else { return response }
        var response = response
        let isSecure = record.session.main?.dialog.isSecure ?? false
        response.headers.contacts = [record.contact ?? contact(for: route, isSecure: isSecure)]
        return response
    }
}
