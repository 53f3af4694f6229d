import OffhookBasics
import Testing

@testable import OffhookSIP

/// Milliseconds after the beginning.
private func at(_ milliseconds: Int64) -> Instant {
    .zero + .milliseconds(milliseconds)
}

@Suite struct `The client's INVITE transaction (RFC 3261 §17.1.1, RFC 6026)` {
    typealias Action = ClientInviteTransaction.Action

    private func started(isReliable: Bool = false) -> (ClientInviteTransaction, [Action]) {
        var actions: [Action] = []
        let machine = ClientInviteTransaction(
            isReliable: isReliable, timers: TransactionTimers(), at: .zero, actions: &actions)
        return (machine, actions)
    }

    /// Runs out all timers and tells what happened when, in milliseconds.
    private func runOut(_ machine: inout ClientInviteTransaction) -> [(Int64, [Action])] {
        var history: [(Int64, [Action])] = []
        while let deadline = machine.nextDeadline {
            var actions: [Action] = []
            machine.handle(timeoutAt: deadline, actions: &actions)
            history.append((deadline.nanoseconds / 1_000_000, actions))
        }
        return history
    }

    @Test func `timer A doubles and timer B gives up`() {
        var (machine, first) = started()

        let history = runOut(&machine)

        #expect(first == [.sendRequest])
        #expect(history.map(\.0) == [500, 1500, 3500, 7500, 15500, 31500, 32000])
        #expect(history.dropLast().allSatisfy { $0.1 == [.sendRequest] })
        #expect(history.last?.1 == [.timedOut, .terminated])
    }

    @Test func `over a stream only timer B runs`() {
        var (machine, _) = started(isReliable: true)

        let history = runOut(&machine)

        #expect(history.map(\.0) == [32000])
        #expect(history.last?.1 == [.timedOut, .terminated])
    }

    @Test func `a provisional response stops both timers`() {
        var (machine, actions) = started()

        machine.receive(status: 180, at: at(100), actions: &actions)

        #expect(actions == [.sendRequest, .deliver])
        #expect(machine.isProceeding)
        #expect(machine.nextDeadline == nil)
    }

    @Test func `a refusal is acknowledged, its repeats too, until timer D`() {
        var (machine, _) = started()
        var actions: [Action] = []

        machine.receive(status: 486, at: at(100), actions: &actions)
        machine.receive(status: 486, at: at(600), actions: &actions)
        machine.receive(status: 200, at: at(700), actions: &actions)
        #expect(actions == [.acknowledge, .deliver, .acknowledge])

        let history = runOut(&machine)
        #expect(history.map(\.0) == [32100])
        #expect(history.last?.1 == [.terminated])
    }

    @Test func `over a stream timer D is zero`() {
        var (machine, _) = started(isReliable: true)
        var actions: [Action] = []

        machine.receive(status: 486, at: at(100), actions: &actions)

        #expect(actions == [.acknowledge, .deliver, .terminated])
    }

    @Test(arguments: [true, false])
    func `every 2xx goes up until timer M`(isReliable: Bool) {
        var (machine, _) = started(isReliable: isReliable)
        var actions: [Action] = []

        machine.receive(status: 200, at: at(100), actions: &actions)
        machine.receive(status: 200, at: at(600), actions: &actions)
        machine.receive(status: 180, at: at(700), actions: &actions)
        machine.receive(status: 486, at: at(800), actions: &actions)
        #expect(actions == [.deliver, .deliver])

        let history = runOut(&machine)
        #expect(history.map(\.0) == [32100])
        #expect(history.last?.1 == [.terminated])
    }

    @Test func `a transport that fails ends it where a response is still awaited`() {
        for status in [nil, 180, 200, 486] {
            var (machine, _) = started()
            var actions: [Action] = []
            if let status { machine.receive(status: status, at: at(100), actions: &actions) }
            actions = []

            machine.handleTransportFailure(actions: &actions)

            switch status {
            case nil, 180: #expect(actions == [.transportFailed, .terminated])
            case 486: #expect(actions == [.terminated])
            default: #expect(actions.isEmpty)
            }
        }
    }

    @Test func `can be given up while it waits`() {
        var (machine, _) = started()
        var actions: [Action] = []
        machine.receive(status: 180, at: at(100), actions: &actions)
        actions = []

        machine.abandon(actions: &actions)
        machine.receive(status: 200, at: at(200), actions: &actions)

        #expect(actions == [.terminated])
        #expect(machine.isTerminated)
    }
}

@Suite struct `The client's other transaction (RFC 3261 §17.1.2)` {
    typealias Action = ClientTransaction.Action

    private func runOut(_ machine: inout ClientTransaction) -> [(Int64, [Action])] {
        var history: [(Int64, [Action])] = []
        while let deadline = machine.nextDeadline {
            var actions: [Action] = []
            machine.handle(timeoutAt: deadline, actions: &actions)
            history.append((deadline.nanoseconds / 1_000_000, actions))
        }
        return history
    }

    @Test func `timer E doubles to T2 and timer F gives up`() {
        var actions: [Action] = []
        var machine = ClientTransaction(isReliable: false, timers: TransactionTimers(), at: .zero, actions: &actions)

        let history = runOut(&machine)

        #expect(
            history.map(\.0) == [500, 1500, 3500, 7500, 11500, 15500, 19500, 23500, 27500, 31500, 32000])
        #expect(history.last?.1 == [.timedOut, .terminated])
    }

    @Test func `over a stream only timer F runs`() {
        var actions: [Action] = []
        var machine = ClientTransaction(isReliable: true, timers: TransactionTimers(), at: .zero, actions: &actions)

        let history = runOut(&machine)
        #expect(history.map(\.0) == [32000])
    }

    @Test func `a provisional response slows repeats to T2`() {
        var actions: [Action] = []
        var machine = ClientTransaction(isReliable: false, timers: TransactionTimers(), at: .zero, actions: &actions)

        machine.receive(status: 100, at: at(100), actions: &actions)

        let history = runOut(&machine)
        #expect(history.map(\.0) == [500, 4500, 8500, 12500, 16500, 20500, 24500, 28500, 32000])
    }

    @Test func `a final response ends it after timer K, over a stream at once`() {
        for isReliable in [false, true] {
            var actions: [Action] = []
            var machine = ClientTransaction(
                isReliable: isReliable, timers: TransactionTimers(), at: .zero, actions: &actions)

            machine.receive(status: 200, at: at(100), actions: &actions)
            machine.receive(status: 200, at: at(600), actions: &actions)

            #expect(actions == (isReliable ? [.sendRequest, .deliver, .terminated] : [.sendRequest, .deliver]))
            let history = runOut(&machine)
            #expect(history.map(\.0) == (isReliable ? [] : [5100]))
        }
    }

    @Test func `a transport that fails ends it unless it is completed`() {
        var actions: [Action] = []
        var machine = ClientTransaction(isReliable: false, timers: TransactionTimers(), at: .zero, actions: &actions)
        var completed = machine
        completed.receive(status: 200, at: at(1), actions: &actions)
        actions = []

        completed.handleTransportFailure(actions: &actions)
        #expect(actions.isEmpty)
        machine.handleTransportFailure(actions: &actions)

        #expect(actions == [.transportFailed, .terminated])
    }
}

@Suite struct `The server's INVITE transaction (RFC 3261 §17.2.1, RFC 6026)` {
    typealias Action = ServerInviteTransaction.Action

    private func runOut(_ machine: inout ServerInviteTransaction) -> [(Int64, [Action])] {
        var history: [(Int64, [Action])] = []
        while let deadline = machine.nextDeadline {
            var actions: [Action] = []
            machine.handle(timeoutAt: deadline, actions: &actions)
            history.append((deadline.nanoseconds / 1_000_000, actions))
        }
        return history
    }

    private func made(isReliable: Bool = false) -> ServerInviteTransaction {
        ServerInviteTransaction(isReliable: isReliable, timers: TransactionTimers(), at: .zero)
    }

    @Test func `says 100 after 200 ms unless something was said`() {
        var silent = made()
        let history = runOut(&silent)
        #expect(history.map(\.1) == [[.sendTrying]])

        var ringing = made()
        var actions: [Action] = []
        ringing.respond(status: 180, at: at(100), actions: &actions)
        #expect(ringing.nextDeadline == nil)
    }

    @Test func `answers repeats with the latest provisional response`() {
        var machine = made()
        var actions: [Action] = []

        machine.receiveRepeat(actions: &actions)
        #expect(actions.isEmpty)
        machine.respond(status: 180, at: at(1), actions: &actions)
        machine.receiveRepeat(actions: &actions)

        #expect(actions == [.sendResponse, .sendResponse])
    }

    @Test func `repeats a refusal by timer G until timer H`() {
        var machine = made()
        var actions: [Action] = []
        machine.respond(status: 486, at: .zero, actions: &actions)

        let history = runOut(&machine)

        #expect(
            history.map(\.0) == [500, 1500, 3500, 7500, 11500, 15500, 19500, 23500, 27500, 31500, 32000])
        #expect(history.last?.1 == [.timedOut, .terminated])
    }

    @Test func `over a stream only timer H runs`() {
        var machine = made(isReliable: true)
        var actions: [Action] = []
        machine.respond(status: 486, at: .zero, actions: &actions)

        let history = runOut(&machine)
        #expect(history.map(\.0) == [32000])
    }

    @Test func `an ACK stops the repeats; timer I absorbs more of them, over a stream it is zero`() {
        for isReliable in [false, true] {
            var machine = made(isReliable: isReliable)
            var actions: [Action] = []
            machine.respond(status: 486, at: .zero, actions: &actions)
            actions = []

            machine.receiveAcknowledgement(at: at(100), actions: &actions)
            machine.receiveAcknowledgement(at: at(200), actions: &actions)
            machine.receiveRepeat(actions: &actions)

            #expect(actions == (isReliable ? [.acknowledged, .terminated] : [.acknowledged]))
            let history = runOut(&machine)
            #expect(history.map(\.0) == (isReliable ? [] : [5100]))
        }
    }

    @Test func `after a 2xx repeats are swallowed and further 2xx sent until timer L`() {
        var machine = made()
        var actions: [Action] = []

        machine.respond(status: 200, at: .zero, actions: &actions)
        machine.receiveRepeat(actions: &actions)
        machine.receiveAcknowledgement(at: at(1), actions: &actions)
        machine.respond(status: 200, at: at(500), actions: &actions)
        machine.respond(status: 486, at: at(600), actions: &actions)

        #expect(actions == [.sendResponse, .sendResponse])
        #expect(!machine.absorbsAcknowledgement)
        let history = runOut(&machine)
        #expect(history.map(\.0) == [32000])
    }

    @Test func `a transport that fails ends it, but not after a 2xx`() {
        for status in [180, 486, 200] {
            var machine = made()
            var actions: [Action] = []
            machine.respond(status: status, at: .zero, actions: &actions)
            actions = []

            machine.handleTransportFailure(actions: &actions)

            #expect(actions == (status == 200 ? [] : [.transportFailed, .terminated]))
        }
    }
}

@Suite struct `The server's other transaction (RFC 3261 §17.2.2)` {
    typealias Action = ServerTransaction.Action

    @Test func `swallows repeats before a response, answers them after, and forgets by timer J`() {
        var machine = ServerTransaction(isReliable: false, timers: TransactionTimers())
        var actions: [Action] = []

        machine.receiveRepeat(actions: &actions)
        #expect(actions.isEmpty)
        machine.respond(status: 183, at: .zero, actions: &actions)
        machine.receiveRepeat(actions: &actions)
        machine.respond(status: 200, at: at(100), actions: &actions)
        machine.receiveRepeat(actions: &actions)
        machine.respond(status: 500, at: at(200), actions: &actions)
        #expect(actions == Array(repeating: .sendResponse, count: 4))
        #expect(machine.nextDeadline == at(32100))
        machine.handle(timeoutAt: at(32100), actions: &actions)

        #expect(actions.last == .terminated)
        #expect(machine.isTerminated)
    }

    @Test func `over a stream timer J is zero`() {
        var machine = ServerTransaction(isReliable: true, timers: TransactionTimers())
        var actions: [Action] = []

        machine.respond(status: 200, at: .zero, actions: &actions)

        #expect(actions == [.sendResponse, .terminated])
    }

    @Test func `a transport that fails after a response ends it`() {
        var machine = ServerTransaction(isReliable: false, timers: TransactionTimers())
        var actions: [Action] = []
        machine.handleTransportFailure(actions: &actions)
        #expect(actions.isEmpty)
        machine.respond(status: 200, at: .zero, actions: &actions)
        actions = []

        machine.handleTransportFailure(actions: &actions)

        #expect(actions == [.transportFailed, .terminated])
    }
}

@Suite struct `The deadline queue` {
    @Test func `gives keys in the order they are due, each at its latest deadline`() {
        var queue = DeadlineQueue<Int>()
        var random = SeededRandom(seed: 3)
        var expected: [Int: Instant] = [:]
        for _ in 0..<2000 {
            let key = Int(random.next() % 100)
            let deadline = random.next() % 5 == 0 ? nil : at(Int64(random.next() % 10_000))
            queue.set(deadline, for: key)
            expected[key] = deadline
        }

        var order: [Instant] = []
        while let next = queue.nextDeadline(), let key = queue.popDue(at: next) {
            let latest = expected.removeValue(forKey: key)
            #expect(latest == next)
            order.append(next)
        }

        #expect(expected.isEmpty)
        #expect(order == order.sorted())
        #expect(queue.isEmpty)
    }

    @Test func `gives nothing before its time`() {
        var queue = DeadlineQueue<Int>()
        queue.set(at(10), for: 1)

        let due = [9, 10, 11].map { queue.popDue(at: at($0)) }

        #expect(due == [nil, 1, nil])
    }
}
