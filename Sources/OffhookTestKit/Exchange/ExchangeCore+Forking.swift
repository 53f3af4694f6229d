internal import OffhookBasics
internal import OffhookSIP

/// Requests that go to every device of an account, and what comes back (RFC 3261 §16.6 to §16.10).
extension ExchangeCore {
    mutating func proxy(
        _ request: SIPRequest, _ id: ServerTransactionID, to targets: [(uri: URI, target: TransportTarget)],
        at now: Instant
    ) {
        if request.method == .invite { respond(100, to: request, id, at: now) }
        forks[id] = Fork(request: request, pending: [], silent: [])
        for (uri, target) in targets {
            let copy = onward(request, to: uri)
            let client = ClientTransactionID(
                branch: copy.headers.topVia?.branch?.lowercased() ?? "", method: copy.method)
            forks[id]?.pending.insert(client)
            forks[id]?.silent.insert(client)
            owners[client] = id
            change(at: now) { _ = $0.start(copy, to: target, at: now, outputs: &$1) }
        }
    }

    /// The copy of a request that goes on from here (RFC 3261 §16.6).
    mutating func onward(_ request: SIPRequest, to uri: URI) -> SIPRequest {
        var copy = request
        copy.uri = uri
        copy.headers.maxForwards = (request.headers.maxForwards ?? 70) &- 1
        while let first = copy.headers.route.first?.uri.sip, isOurs(first) { copy.headers.removeFirstValue(.route) }
        copy.headers.remove(.proxyAuthorization)
        var via = Via(transport: SIPTransport.udp.viaName, host: SIPHost(local.address), port: local.port)
        via.branch = "z9hG4bK" + random.token(length: 16)
        via.wantsResponsePort = true
        copy.headers.prepend(.via, "\(via)")
        return copy
    }

    mutating func receive(_ response: SIPResponse, of client: ClientTransactionID, at now: Instant) {
        guard let id = owners[client], forks[id] != nil else { return }
        forks[id]?.silent.remove(client)
        var response = response
        response.headers.removeFirstValue(.via)
        switch response.status {
        case 100:
            break
        case ..<200:
            if forks[id]?.endReasons == nil { pass(response, to: id, at: now) }
        case ..<300:
            forks[id]?.pending.remove(client)
            forks[id]?.hasWinner = true
            pass(response, to: id, at: now)
            end(id, because: SIPReason(protocolName: "SIP", cause: 200, text: "Call completed elsewhere"), at: now)
        default:
            forks[id]?.pending.remove(client)
            forks[id]?.refusals.append(response)
            // A refusal for all the world (§16.7, step 5).
            if response.status >= 600 { end(id, because: nil, at: now) }
        }
        if let reasons = forks[id]?.endReasons { cancelBranches(of: id, reasons, at: now) }
        conclude(id, at: now)
    }

    /// A branch gave no answer, which counts as 408 (§16.9).
    mutating func fail(_ client: ClientTransactionID, at now: Instant) {
        guard let id = owners[client], let fork = forks[id] else { return }
        forks[id]?.pending.remove(client)
        forks[id]?.silent.remove(client)
        let response = SIPResponse(answering: fork.request, status: 408, tag: random.token(length: 10))
        forks[id]?.refusals.append(response)
        conclude(id, at: now)
    }

    mutating func receiveCancel(_ request: SIPRequest, _ id: ServerTransactionID, at now: Instant) {
        guard let invite = table.invite(cancelledBy: request), forks[invite] != nil else {
            return respond(481, to: request, id, at: now)
        }
        respond(200, to: request, id, at: now)
        if forks[invite]?.endReasons == nil { forks[invite]?.endReasons = request.headers.reasons }
        cancelBranches(of: invite, request.headers.reasons, at: now)
    }

    private mutating func end(_ id: ServerTransactionID, because reason: SIPReason?, at now: Instant) {
        guard forks[id]?.endReasons == nil else { return }
        forks[id]?.endReasons = reason.map { [$0] } ?? []
    }

    /// Cancels the branches that have been heard of; the others when they are.
    private mutating func cancelBranches(of id: ServerTransactionID, _ reasons: [SIPReason], at now: Instant) {
        for client in forks[id]?.pending ?? [] where table.isProceeding(client) {
            change(at: now) { $0.cancel(client, reasons: reasons, at: now, outputs: &$1) }
        }
    }

    /// Hands the best refusal back once every branch has one (§16.7, step 6).
    private mutating func conclude(_ id: ServerTransactionID, at now: Instant) {
        guard let fork = forks[id], fork.pending.isEmpty, !fork.hasWinner else { return }
        let best = fork.refusals.min { Self.rank($0.status) < Self.rank($1.status) }
        guard let best else { return }
        forks[id]?.hasWinner = true
        pass(best, to: id, at: now)
    }

    private static func rank(_ status: Int) -> Int {
        // 6xx before all; then the lowest class; within 4xx, what the caller can do something about comes first.
        if status >= 600 { return 0 }
        return status / 100 * 10 + ([401, 407, 415, 420, 484].contains(status) ? 0 : status == 408 ? 2 : 1)
    }

    private mutating func pass(_ response: SIPResponse, to id: ServerTransactionID, at now: Instant) {
        change(at: now) { $0.respond(response, to: id, at: now, outputs: &$1) }
    }
}
