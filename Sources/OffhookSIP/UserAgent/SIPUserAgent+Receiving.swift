internal import OffhookBasics

/// What the transactions say, and requests from far ends (RFC 3261 §8.2).
extension SIPUserAgent {
    mutating func process(
        _ outputs: [TransactionTable.Output], arrival: Arrival? = nil, at now: Instant, actions: inout [Action]
    ) {
        for output in outputs {
            switch output {
            case .send(let bytes, let target): actions.append(.send(bytes, to: target))
            case .request(let request, let transaction):
                guard let arrival else { continue }
                receive(request, transaction, arrival, at: now, actions: &actions)
            case .mergedRequest(let request, let transaction):
                refuse(request, transaction, 482, at: now, actions: &actions)
            case .overload(let request, let target):
                var response = SIPResponse(answering: request, status: 503, tag: random.token(length: 10))
                // The longest that a server transaction stays (Timer J).
                response.headers.retryAfter = 32
                actions.append(.send(response.write(), to: target))
            case .acknowledgement(let request):
                guard let dialog = DialogID(receiving: request), let id = session(of: dialog) else { continue }
                if let arrival { noteArrival(arrival, in: id) }
                change(id, at: now, actions: &actions) {
                    $0.receiveAcknowledgement(request, at: now, actions: &$1)
                }
            case .response(let response, let transaction, let source):
                receive(response, of: transaction, from: source, at: now, actions: &actions)
            case .timedOut(let transaction): attemptFailed(transaction, .timedOut, at: now, actions: &actions)
            case .transportFailed(let transaction):
                attemptFailed(transaction, .transportFailed, at: now, actions: &actions)
            case .clientTerminated(let transaction): transactionEnded(transaction)
            case .serverTerminated(let transaction): sessionsByInvite[transaction] = nil
            }
        }
    }

    /// Which session a dialog is of. Who answered without a tag may have one in later requests.
    func session(of dialog: DialogID) -> SessionID? {
        sessionsByDialog[dialog]
            ?? sessionsByDialog[DialogID(callID: dialog.callID, localTag: dialog.localTag, remoteTag: "")]
    }

    private mutating func noteArrival(_ arrival: Arrival, in id: SessionID) {
        sessions[id]?.lastRoute = TransportRoute(target: arrival.source, local: arrival.local)
    }

    private mutating func receive(
        _ request: SIPRequest, _ transaction: ServerTransactionID, _ arrival: Arrival, at now: Instant,
        actions: inout [Action]
    ) {
        if request.method == .cancel {
            receiveCancel(request, transaction, at: now, actions: &actions)
            return
        }
        if let dialog = DialogID(receiving: request) {
            receive(request, transaction, within: dialog, arrival, at: now, actions: &actions)
            return
        }
        switch request.method {
        case .invite:
            if refuseUnfit(request, transaction, at: now, actions: &actions) { return }
            receiveInvite(request, transaction, arrival, at: now, actions: &actions)
        case .options:
            if refuseUnfit(request, transaction, at: now, actions: &actions) { return }
            var response = SIPResponse(answering: request, status: 200, tag: random.token(length: 10))
            addCapabilities(to: &response.headers)
            send(response, transaction, at: now, actions: &actions)
        case .bye, .update, .prack, .info:
            refuse(request, transaction, 481, at: now, actions: &actions)
        default:
            receiveOther(request, transaction, arrival, at: now, actions: &actions)
        }
    }

    private mutating func receiveOther(
        _ request: SIPRequest, _ transaction: ServerTransactionID, _ arrival: Arrival, at now: Instant,
        actions: inout [Action]
    ) {
        guard configuration.acceptedRequests.contains(request.method) else {
            refuse(request, transaction, refusal(of: request.method), at: now, actions: &actions) { headers, methods in
                headers[first: .allow] = methods.map(\.name).joined(separator: ", ")
            }
            return
        }
        if refuseUnfit(request, transaction, at: now, actions: &actions) { return }
        actions.append(.outOfDialogRequest(request, transaction, from: arrival.source))
    }

    /// What a request outside sessions gets that nobody takes.
    private func refusal(of method: SIPMethod) -> Int {
        switch method {
        // There is no subscription that it could be of (RFC 6665 §4.1.3).
        case .notify: 481
        // Whoever reaches us could have us call anybody.
        case .refer: 403
        default: Self.knownMethods.contains(method) ? 405 : 501
        }
    }

    private static let knownMethods: Set<SIPMethod> = [
        .invite, .ack, .bye, .cancel, .options, .register, .prack, .update, .info, .refer, .subscribe, .notify,
        .message,
        .publish,
    ]

    private mutating func receive(
        _ request: SIPRequest, _ transaction: ServerTransactionID, within dialog: DialogID, _ arrival: Arrival,
        at now: Instant, actions: inout [Action]
    ) {
        guard let id = session(of: dialog) else {
            if request.method == .notify, configuration.acceptedRequests.contains(.notify) {
                actions.append(.outOfDialogRequest(request, transaction, from: arrival.source))
            } else {
                refuse(request, transaction, 481, at: now, actions: &actions)
            }
            return
        }
        guard configuration.allowedMethods.contains(request.method) else {
            receiveOther(request, transaction, arrival, at: now, actions: &actions)
            return
        }
        if request.method != .bye, refuseUnfit(request, transaction, at: now, actions: &actions) { return }
        noteArrival(arrival, in: id)
        if request.method == .invite { sessionsByInvite[transaction] = id }
        change(id, at: now, actions: &actions) { $0.receive(request, transaction, at: now, actions: &$1) }
    }

    private mutating func receiveCancel(
        _ request: SIPRequest, _ transaction: ServerTransactionID, at now: Instant, actions: inout [Action]
    ) {
        guard let invite = table.invite(cancelledBy: request) else {
            refuse(request, transaction, 481, at: now, actions: &actions)
            return
        }
        let response = SIPResponse(answering: request, status: 200, tag: random.token(length: 10))
        send(response, transaction, at: now, actions: &actions)
        guard let id = sessionsByInvite[invite] else { return }
        change(id, at: now, actions: &actions) {
            $0.receiveCancel(of: invite, reasons: request.headers.reasons, actions: &$1)
        }
    }

    private mutating func receiveInvite(
        _ request: SIPRequest, _ transaction: ServerTransactionID, _ arrival: Arrival, at now: Instant,
        actions: inout [Action]
    ) {
        var replaced: SessionID?
        var joined: SessionID?
        switch sessionNamed(by: request) {
        case .none: break
        case .replaces(let id): replaced = id
        case .joins(let id): joined = id
        case .refuse(let status): return refuse(request, transaction, status, at: now, actions: &actions)
        }
        if let least = SessionTimer(configuration.sessionTimer).isTooSmall(request.headers) {
            refuse(request, transaction, 422, at: now, actions: &actions) { headers, _ in headers.minSE = least }
            return
        }
        guard sessions.values.count(where: { !$0.session.isCaller }) < configuration.incomingSessionLimit else {
            refuse(request, transaction, 486, at: now, actions: &actions)
            return
        }
        let id = makeSessionID()
        var output: [SessionAction] = []
        let isSecure = request.uri.scheme == "sips"
        guard
            var session = InviteSession.ringing(
                request, transaction, id: id, isSecure: isSecure, configuration: configuration, seed: random.next(),
                at: now, actions: &output)
        else {
            refuse(request, transaction, 400, at: now, actions: &actions)
            return
        }
        session.replacedSession = replaced
        let route = TransportRoute(target: arrival.source, local: arrival.local)
        // A browser's end cannot be connected to, and a direct caller's connection serves for the whole call.
        let isDirect = request.headers.vias.count == 1 && !request.headers.contains(.recordRoute)
        let transport = arrival.source.transport
        let isFixed = transport.isWebSocket || (transport.isReliable && arrival.source.connection != nil && isDirect)
        sessions[id] = SessionRecord(session: session, fixedRoute: isFixed ? route : nil, lastRoute: route)
        sessionsByInvite[transaction] = id
        perform(output, of: id, at: now, actions: &actions)
        settle(id)
        let invite = IncomingInvite(
            request: request, offer: request.body(ofType: "application/sdp"), from: arrival.source, replaces: replaced,
            joins: joined)
        actions.append(.event(id, .incoming(invite)))
    }

    // MARK: Refusing by ourselves

    /// Refuses what we cannot serve (RFC 3261 §8.2.2.1, §8.2.2.3, §8.2.3).
    private mutating func refuseUnfit(
        _ request: SIPRequest, _ transaction: ServerTransactionID, at now: Instant, actions: inout [Action]
    ) -> Bool {
        guard ["sip", "sips", "tel"].contains(request.uri.scheme) else {
            refuse(request, transaction, 416, at: now, actions: &actions)
            return true
        }
        let unknown = request.headers.require.subtracting(configuration.supportedOptions)
        guard unknown.isEmpty else {
            refuse(request, transaction, 420, at: now, actions: &actions) { headers, _ in headers.unsupported = unknown
            }
            return true
        }
        if [.invite, .update, .prack, .info].contains(request.method), let status = refusal(ofBodyIn: request) {
            let accepted = configuration.acceptedBodies
            refuse(request, transaction, status, at: now, actions: &actions) { headers, _ in
                if status == 415 { headers[first: .accept] = accepted.joined(separator: ", ") }
            }
            return true
        }
        if !request.body.isEmpty, request.headers.contains(.contentEncoding),
            request.headers[first: .contentEncoding]?.lowercased() != "identity"
        {
            refuse(request, transaction, 415, at: now, actions: &actions) { headers, _ in
                headers[first: .acceptEncoding] = "identity"
            }
            return true
        }
        return false
    }

    /// What a body gets that cannot be read; nil where it can be, or says that it need not be.
    private func refusal(ofBodyIn request: SIPRequest) -> Int? {
        guard !request.body.isEmpty, isHandlingRequired(request.headers) else { return nil }
        // A body of no type is of none that we know (RFC 3261 §20.15).
        guard let type = request.headers.contentType else { return 415 }
        guard type.isMultipart else { return configuration.acceptedBodies.contains(type.essence) ? nil : 415 }
        let parts = MultipartBody.parts(of: request.body, contentType: type)
        // Without the boundary it is no multipart body at all (RFC 2046 §5.1).
        guard !parts.isEmpty else { return 400 }
        // RFC 5621 §3.1.
        let mustRead = parts.filter(\.isHandlingRequired).map { $0.headers.contentType?.essence ?? "text/plain" }
        return mustRead.allSatisfy { configuration.acceptedBodies.contains($0) || $0.hasPrefix("multipart/") }
            ? nil : 415
    }

    /// A body may say that it can be ignored (RFC 3261 §20.11).
    private func isHandlingRequired(_ headers: SIPHeaders) -> Bool {
        headers.contentDisposition?.parameters["handling"]?.lowercased() != "optional"
    }

    private mutating func refuse(
        _ request: SIPRequest, _ transaction: ServerTransactionID, _ status: Int, at now: Instant,
        actions: inout [Action], fill: (inout SIPHeaders, [SIPMethod]) -> Void = { _, _ in }
    ) {
        var response = SIPResponse(answering: request, status: status, tag: random.token(length: 10))
        fill(&response.headers, configuration.allowedMethods)
        send(response, transaction, at: now, actions: &actions)
    }

    private func addCapabilities(to headers: inout SIPHeaders) {
        headers[first: .allow] = configuration.allowedMethods.map(\.name).joined(separator: ", ")
        headers[first: .accept] = configuration.acceptedBodies.joined(separator: ", ")
        headers[first: .supported] = configuration.supportedOptions.joined(separator: ", ")
        headers[first: .acceptEncoding] = "identity"
        if !configuration.eventPackages.isEmpty {
            headers[first: .allowEvents] = configuration.eventPackages.joined(separator: ", ")
        }
    }
}

extension MediaType {
    var isMultipart: Bool { essence.hasPrefix("multipart/") }
}
