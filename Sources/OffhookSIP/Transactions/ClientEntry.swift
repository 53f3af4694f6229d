internal import OffhookBasics

/// A client transaction with the messages it repeats.
struct ClientEntry: Sendable {
    typealias Output = TransactionTable.Output

    enum Machine: Sendable {
        case invite(ClientInviteTransaction)
        case other(ClientTransaction)
    }

    private(set) var machine: Machine
    let request: SIPRequest
    let target: TransportTarget
    private let bytes: [UInt8]
    /// The ACK of the refusal that came.
    private var acknowledgement: [UInt8] = []

    init(
        request: SIPRequest, target: TransportTarget, timers: TransactionTimers, at now: Instant,
        outputs: inout [Output]
    ) {
        self.request = request
        self.target = target
        bytes = request.write()
        outputs.append(.send(bytes, to: target))
        let isReliable = target.transport.isReliable
        // The first of the machine's actions is the sending that was just done.
        if request.method == .invite {
            var actions: [ClientInviteTransaction.Action] = []
            machine = .invite(
                ClientInviteTransaction(isReliable: isReliable, timers: timers, at: now, actions: &actions))
        } else {
            var actions: [ClientTransaction.Action] = []
            machine = .other(ClientTransaction(isReliable: isReliable, timers: timers, at: now, actions: &actions))
        }
    }

    var isTerminated: Bool {
        switch machine {
        case .invite(let machine): machine.isTerminated
        case .other(let machine): machine.isTerminated
        }
    }

    var isPending: Bool {
        switch machine {
        case .invite(let machine): machine.isPending
        case .other(let machine): machine.isPending
        }
    }

    var nextDeadline: Instant? {
        switch machine {
        case .invite(let machine): machine.nextDeadline
        case .other(let machine): machine.nextDeadline
        }
    }

    mutating func receive(
        _ response: SIPResponse, id: ClientTransactionID, from source: TransportTarget, at now: Instant,
        outputs: inout [Output]
    ) {
        let received = Output.response(response, id, from: source)
        switch machine {
        case .invite(var machine):
            if response.status >= 300, machine.isPending {
                acknowledgement = request.makeAcknowledgement(of: response).write()
            }
            var actions: [ClientInviteTransaction.Action] = []
            machine.receive(status: response.status, at: now, actions: &actions)
            self.machine = .invite(machine)
            perform(actions, id: id, received: received, outputs: &outputs)
        case .other(var machine):
            var actions: [ClientTransaction.Action] = []
            machine.receive(status: response.status, at: now, actions: &actions)
            self.machine = .other(machine)
            perform(actions, id: id, received: received, outputs: &outputs)
        }
    }

    mutating func handle(timeoutAt now: Instant, id: ClientTransactionID, outputs: inout [Output]) {
        switch machine {
        case .invite(var machine):
            var actions: [ClientInviteTransaction.Action] = []
            machine.handle(timeoutAt: now, actions: &actions)
            self.machine = .invite(machine)
            perform(actions, id: id, received: nil, outputs: &outputs)
        case .other(var machine):
            var actions: [ClientTransaction.Action] = []
            machine.handle(timeoutAt: now, actions: &actions)
            self.machine = .other(machine)
            perform(actions, id: id, received: nil, outputs: &outputs)
        }
    }

    mutating func handleTransportFailure(id: ClientTransactionID, outputs: inout [Output]) {
        switch machine {
        case .invite(var machine):
            var actions: [ClientInviteTransaction.Action] = []
            machine.handleTransportFailure(actions: &actions)
            self.machine = .invite(machine)
            perform(actions, id: id, received: nil, outputs: &outputs)
        case .other(var machine):
            var actions: [ClientTransaction.Action] = []
            machine.handleTransportFailure(actions: &actions)
            self.machine = .other(machine)
            perform(actions, id: id, received: nil, outputs: &outputs)
        }
    }

    mutating func abandon(outputs: inout [Output]) {
        guard case .invite(var machine) = machine else { return }
        var actions: [ClientInviteTransaction.Action] = []
        machine.abandon(actions: &actions)
        self.machine = .invite(machine)
    }

    private func perform(
        _ actions: [ClientInviteTransaction.Action], id: ClientTransactionID, received: Output?,
        outputs: inout [Output]
    ) {
        for action in actions {
            switch action {
            case .sendRequest: outputs.append(.send(bytes, to: target))
            case .acknowledge: outputs.append(.send(acknowledgement, to: target))
            case .deliver: if let received { outputs.append(received) }
            case .timedOut: outputs.append(.timedOut(id))
            case .transportFailed: outputs.append(.transportFailed(id))
            case .terminated: break  // The table sees it by `isTerminated`.
            }
        }
    }

    private func perform(
        _ actions: [ClientTransaction.Action], id: ClientTransactionID, received: Output?, outputs: inout [Output]
    ) {
        for action in actions {
            switch action {
            case .sendRequest: outputs.append(.send(bytes, to: target))
            case .deliver: if let received { outputs.append(received) }
            case .timedOut: outputs.append(.timedOut(id))
            case .transportFailed: outputs.append(.transportFailed(id))
            case .terminated: break  // The table sees it by `isTerminated`.
            }
        }
    }
}

extension SIPRequest {
    /// The ACK of a refusal, which belongs to the INVITE's transaction (RFC 3261 §17.1.1.3).
    func makeAcknowledgement(of response: SIPResponse) -> SIPRequest {
        var acknowledgement = companion(method: .ack)
        acknowledgement.headers.to = response.headers.to
        acknowledgement.headers.copy(.authorization, from: headers)
        acknowledgement.headers.copy(.proxyAuthorization, from: headers)
        return acknowledgement
    }

    /// The CANCEL of this INVITE (RFC 3261 §9.1).
    func makeCancel(reasons: [SIPReason]) -> SIPRequest {
        var cancel = companion(method: .cancel)
        cancel.headers.copy(.to, from: headers)
        cancel.headers.copy(.authorization, from: headers)
        cancel.headers.copy(.proxyAuthorization, from: headers)
        if !reasons.isEmpty { cancel.headers.reasons = reasons }
        return cancel
    }

    private func companion(method: SIPMethod) -> SIPRequest {
        var request = SIPRequest(method: method, uri: uri)
        request.headers.topVia = headers.topVia
        request.headers.copy(.route, from: headers)
        request.headers.maxForwards = 70
        request.headers.copy(.from, from: headers)
        request.headers.copy(.callID, from: headers)
        if let cseq = headers.cseq { request.headers.cseq = CSeq(cseq.number, method) }
        return request
    }
}
