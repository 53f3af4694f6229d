internal import OffhookBasics

/// A server transaction with its request and the response it repeats.
struct ServerEntry: Sendable {
    typealias Output = TransactionTable.Output

    private enum Machine: Sendable {
        case invite(ServerInviteTransaction)
        case other(ServerTransaction)
    }

    private var machine: Machine
    let request: SIPRequest
    let source: TransportTarget
    private(set) var target: TransportTarget
    private var fallback: TransportTarget?
    private var response: [UInt8] = []
    var merge: MergeKey?

    init(request: SIPRequest, from source: TransportTarget, timers: TransactionTimers, at now: Instant) {
        self.request = request
        self.source = source
        let routing = ResponseRouting(request: request, from: source)
        target = routing.target
        fallback = routing.fallback
        let isReliable = source.transport.isReliable
        machine =
            request.method == .invite
            ? .invite(ServerInviteTransaction(isReliable: isReliable, timers: timers, at: now))
            : .other(ServerTransaction(isReliable: isReliable, timers: timers))
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

    /// Whether an ACK ends this refusal; that of a 2xx goes to the dialog even if it has the INVITE's branch.
    var absorbsAcknowledgement: Bool {
        guard case .invite(let machine) = machine else { return false }
        return machine.absorbsAcknowledgement
    }

    var nextDeadline: Instant? {
        switch machine {
        case .invite(let machine): machine.nextDeadline
        case .other(let machine): machine.nextDeadline
        }
    }

    mutating func respond(_ response: SIPResponse, at now: Instant, outputs: inout [Output]) {
        let bytes = response.write()
        change(bytes: bytes, outputs: &outputs) { machine, actions in
            machine.respond(status: response.status, at: now, actions: &actions)
        } other: { machine, actions in
            machine.respond(status: response.status, at: now, actions: &actions)
        }
    }

    mutating func receiveRepeat(outputs: inout [Output]) {
        change(bytes: response, outputs: &outputs) { machine, actions in
            machine.receiveRepeat(actions: &actions)
        } other: { machine, actions in
            machine.receiveRepeat(actions: &actions)
        }
    }

    mutating func receiveAcknowledgement(at now: Instant, outputs: inout [Output]) {
        change(bytes: response, outputs: &outputs) { machine, actions in
            machine.receiveAcknowledgement(at: now, actions: &actions)
        } other: { _, _ in
        }
    }

    mutating func handle(timeoutAt now: Instant, outputs: inout [Output]) {
        change(bytes: response, outputs: &outputs) { machine, actions in
            machine.handle(timeoutAt: now, actions: &actions)
        } other: { machine, actions in
            machine.handle(timeoutAt: now, actions: &actions)
        }
    }

    /// The connection to the client is gone: what is said from here on goes to where its Via says.
    mutating func handleTransportFailure(outputs: inout [Output]) {
        if let next = fallback {
            fallback = nil
            target = next
            if !response.isEmpty { outputs.append(.send(response, to: next)) }
            return
        }
        change(bytes: response, outputs: &outputs) { machine, actions in
            machine.handleTransportFailure(actions: &actions)
        } other: { machine, actions in
            machine.handleTransportFailure(actions: &actions)
        }
    }

    private mutating func change(
        bytes: [UInt8], outputs: inout [Output],
        invite: (inout ServerInviteTransaction, inout [ServerInviteTransaction.Action]) -> Void,
        other: (inout ServerTransaction, inout [ServerTransaction.Action]) -> Void
    ) {
        switch machine {
        case .invite(var machine):
            var actions: [ServerInviteTransaction.Action] = []
            invite(&machine, &actions)
            self.machine = .invite(machine)
            for action in actions {
                switch action {
                case .sendTrying:
                    response = SIPResponse(answering: request, status: 100).write()
                    outputs.append(.send(response, to: target))
                case .sendResponse:
                    response = bytes
                    outputs.append(.send(bytes, to: target))
                case .acknowledged, .timedOut, .transportFailed, .terminated:
                    // A refusal's fate changes nothing for anyone; the table sees the end by `isTerminated`.
                    break
                }
            }
        case .other(var machine):
            var actions: [ServerTransaction.Action] = []
            other(&machine, &actions)
            self.machine = .other(machine)
            for action in actions {
                switch action {
                case .sendResponse:
                    response = bytes
                    outputs.append(.send(bytes, to: target))
                case .transportFailed, .terminated:
                    break
                }
            }
        }
    }
}
