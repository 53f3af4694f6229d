package import OffhookBasics

/// All transactions of a user agent: it matches messages to them and repeats what must be repeated.
///
/// RFC 3261 §17.1.3, §17.2.3 and §8.2.2.2.
package struct TransactionTable: Sendable {
    package enum Output: Sendable {
        case send([UInt8], to: TransportTarget)
        /// A new request, which wants a response.
        case request(SIPRequest, ServerTransactionID)
        /// A new request that came on another path already: it wants a 482 (RFC 3261 §8.2.2.2).
        case mergedRequest(SIPRequest, ServerTransactionID)
        /// A new request for which there is no room: it is answered there without a transaction (RFC 3261 §8.2.7).
        case overload(SIPRequest, to: TransportTarget)
        /// An ACK that ends no refusal: that of a 2xx.
        case acknowledgement(SIPRequest)
        case response(SIPResponse, ClientTransactionID, from: TransportTarget)
        case timedOut(ClientTransactionID)
        case transportFailed(ClientTransactionID)
        /// The identifier means nothing any more.
        case clientTerminated(ClientTransactionID)
        /// The identifier means nothing any more.
        case serverTerminated(ServerTransactionID)
    }

    private enum TransactionID: Hashable, Sendable {
        case client(ClientTransactionID)
        case server(ServerTransactionID)
    }

    private let timers: TransactionTimers
    private let serverLimit: Int
    private var clients: [ClientTransactionID: ClientEntry] = [:]
    private var servers: [ServerTransactionID: ServerEntry] = [:]
    private var merges: [MergeKey: ServerTransactionID] = [:]
    private var deadlines = DeadlineQueue<TransactionID>()

    package init(timers: TransactionTimers = TransactionTimers(), serverLimit: Int = .max) {
        self.timers = timers
        self.serverLimit = serverLimit
    }

    package var isEmpty: Bool { clients.isEmpty && servers.isEmpty }
    package var clientCount: Int { clients.count }
    package var serverCount: Int { servers.count }

    // MARK: Requests of ours

    /// Sends a request whose top Via has a fresh branch.
    package mutating func start(
        _ request: SIPRequest, to target: TransportTarget, at now: Instant, outputs: inout [Output]
    ) -> ClientTransactionID {
        let id = ClientTransactionID(branch: request.headers.topVia?.branch?.lowercased() ?? "", method: request.method)
        var entry = ClientEntry(request: request, target: target, timers: timers, at: now, outputs: &outputs)
        settle(&entry, id, outputs: &outputs)
        return id
    }

    /// Whether a CANCEL for this INVITE would make sense: a provisional response came and no final one.
    package func isProceeding(_ id: ClientTransactionID) -> Bool {
        guard case .invite(let machine)? = clients[id]?.machine else { return false }
        return machine.isProceeding
    }

    /// Sends a CANCEL for an INVITE of ours, to the same place (RFC 3261 §9.1).
    package mutating func cancel(
        _ id: ClientTransactionID, reasons: [SIPReason], at now: Instant, outputs: inout [Output]
    ) {
        guard let entry = clients[id], entry.isPending else { return }
        let request = entry.request.makeCancel(reasons: reasons)
        _ = start(request, to: entry.target, at: now, outputs: &outputs)
    }

    /// Stops an INVITE of ours that waits for a response in vain.
    package mutating func abandon(_ id: ClientTransactionID, outputs: inout [Output]) {
        guard var entry = clients[id] else { return }
        entry.abandon(outputs: &outputs)
        settle(&entry, id, outputs: &outputs)
    }

    /// Takes a response; one that matches nothing is dropped.
    package mutating func receive(
        _ response: SIPResponse, from source: TransportTarget, at now: Instant, outputs: inout [Output]
    ) {
        guard let id = ClientTransactionID(answeredBy: response), var entry = clients[id] else { return }
        entry.receive(response, id: id, from: source, at: now, outputs: &outputs)
        settle(&entry, id, outputs: &outputs)
    }

    // MARK: Requests from the far end

    /// Takes a request whose top Via is stamped with its source. What belongs to a dialog that is known has room in any case:
    /// a flood from elsewhere must not keep a call from ending.
    package mutating func receive(
        _ request: SIPRequest, from source: TransportTarget, isInDialog: Bool = false, at now: Instant,
        outputs: inout [Output]
    ) {
        guard let id = ServerTransactionID(request) else { return }
        if request.method == .ack {
            guard var entry = servers[id], entry.absorbsAcknowledgement else {
                outputs.append(.acknowledgement(request))
                return
            }
            entry.receiveAcknowledgement(at: now, outputs: &outputs)
            settle(&entry, id, outputs: &outputs)
            return
        }
        if var entry = servers[id] {
            entry.receiveRepeat(outputs: &outputs)
            settle(&entry, id, outputs: &outputs)
            return
        }
        guard isInDialog || servers.count < serverLimit else {
            outputs.append(.overload(request, to: ResponseRouting(request: request, from: source).target))
            return
        }
        var entry = ServerEntry(request: request, from: source, timers: timers, at: now)
        let merge = MergeKey(request)
        let original = merge.flatMap { merges[$0] }
        if original == nil, let merge {
            merges[merge] = id
            entry.merge = merge
        }
        settle(&entry, id, outputs: &outputs)
        outputs.append(original == nil ? .request(request, id) : .mergedRequest(request, id))
    }

    /// The INVITE that a CANCEL wants ended: nil if none is known.
    package func invite(cancelledBy request: SIPRequest) -> ServerTransactionID? {
        guard let id = ServerTransactionID(cancelledBy: request), servers[id] != nil else { return nil }
        return id
    }

    /// The request of a server transaction that has not ended.
    package func request(of id: ServerTransactionID) -> SIPRequest? {
        servers[id]?.request
    }

    /// Where the request of a server transaction came from.
    package func source(of id: ServerTransactionID) -> TransportTarget? {
        servers[id]?.source
    }

    /// Whether a final response is still to be given.
    package func isPending(_ id: ServerTransactionID) -> Bool {
        servers[id]?.isPending ?? false
    }

    package mutating func respond(
        _ response: SIPResponse, to id: ServerTransactionID, at now: Instant, outputs: inout [Output]
    ) {
        guard var entry = servers[id] else { return }
        entry.respond(response, at: now, outputs: &outputs)
        settle(&entry, id, outputs: &outputs)
    }

    // MARK: Time and transports

    package mutating func nextDeadline() -> Instant? {
        deadlines.nextDeadline()
    }

    package mutating func handle(timeoutAt now: Instant, outputs: inout [Output]) {
        while let due = deadlines.popDue(at: now) {
            switch due {
            case .client(let id):
                guard var entry = clients[id] else { continue }
                entry.handle(timeoutAt: now, id: id, outputs: &outputs)
                settle(&entry, id, outputs: &outputs)
            case .server(let id):
                guard var entry = servers[id] else { continue }
                entry.handle(timeoutAt: now, outputs: &outputs)
                settle(&entry, id, outputs: &outputs)
            }
        }
    }

    /// What was sent there did not arrive, or nothing can be sent there.
    package mutating func handleTransportFailure(of target: TransportTarget, outputs: inout [Output]) {
        for (id, entry) in clients where entry.target.isAffected(byFailureOf: target) {
            var entry = entry
            entry.handleTransportFailure(id: id, outputs: &outputs)
            settle(&entry, id, outputs: &outputs)
        }
        for (id, entry) in servers where entry.target.isAffected(byFailureOf: target) {
            var entry = entry
            entry.handleTransportFailure(outputs: &outputs)
            settle(&entry, id, outputs: &outputs)
        }
    }

    private mutating func settle(_ entry: inout ClientEntry, _ id: ClientTransactionID, outputs: inout [Output]) {
        deadlines.set(entry.nextDeadline, for: .client(id))
        if entry.isTerminated {
            clients[id] = nil
            outputs.append(.clientTerminated(id))
        } else {
            clients[id] = entry
        }
    }

    private mutating func settle(_ entry: inout ServerEntry, _ id: ServerTransactionID, outputs: inout [Output]) {
        deadlines.set(entry.nextDeadline, for: .server(id))
        if entry.isTerminated {
            servers[id] = nil
            if let merge = entry.merge { merges[merge] = nil }
            outputs.append(.serverTerminated(id))
        } else {
            servers[id] = entry
        }
    }
}

/// What two copies of a request that took different paths have in common (RFC 3261 §8.2.2.2).
struct MergeKey: Hashable, Sendable {
    private let callID: String
    private let fromTag: String
    private let cseq: CSeq

    /// Nil for a request within a dialog.
    init?(_ request: SIPRequest) {
        guard request.headers.to?.tag == nil, let callID = request.headers.callID,
            let fromTag = request.headers.from?.tag, let cseq = request.headers.cseq, request.method != .cancel
        else { return nil }
        self.callID = callID
        self.fromTag = fromTag
        self.cseq = cseq
    }
}

extension TransportTarget {
    /// Whether what was sent to this target is lost when that one fails.
    func isAffected(byFailureOf failed: TransportTarget) -> Bool {
        guard transport == failed.transport else { return false }
        if let connection, let other = failed.connection { return connection == other }
        return remote == failed.remote
    }
}
