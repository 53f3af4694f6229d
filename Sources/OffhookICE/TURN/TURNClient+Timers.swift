package import OffhookBasics

extension TURNClient {
    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? {
        var deadline = Instant.distantFuture
        for transaction in transactions { deadline = min(deadline, transaction.retransmission.deadline) }
        if case .allocated(let refreshAt) = state, !isWaiting(for: .refresh) { deadline = min(deadline, refreshAt) }
        for permission in permissions {
            switch permission.state {
            case .granted(let renewAt) where !isWaiting(for: .permission(permission.address)):
                deadline = min(deadline, renewAt)
            case .refused(let until): deadline = min(deadline, until)
            case .granted, .requested: break
            }
        }
        for channel in channels {
            guard let renewAt = channel.renewAt, !isWaiting(for: .channel(channel.peer, channel.number)) else {
                continue
            }
            deadline = min(deadline, renewAt)
        }
        return deadline == .distantFuture ? nil : deadline
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [TURNAction]) {
        repeatRequests(at: now, actions: &actions)
        if case .allocated(let refreshAt) = state, now >= refreshAt, !isWaiting(for: .refresh) {
            request(.refresh, at: now, actions: &actions)
        }
        permissions.removeAll { permission in
            if case .refused(let until) = permission.state { now >= until } else { false }
        }
        for permission in permissions {
            guard case .granted(let renewAt) = permission.state, now >= renewAt,
                !isWaiting(for: .permission(permission.address))
            else { continue }
            request(.permission(permission.address), at: now, actions: &actions)
        }
        for channel in channels {
            let purpose = Purpose.channel(channel.peer, channel.number)
            guard let renewAt = channel.renewAt, now >= renewAt, !isWaiting(for: purpose) else { continue }
            request(purpose, at: now, actions: &actions)
        }
    }

    private mutating func repeatRequests(at now: Instant, actions: inout [TURNAction]) {
        var timedOut: [Purpose] = []
        for index in transactions.indices {
            switch transactions[index].retransmission.step(at: now) {
            case .wait: break
            case .resend: actions.append(.send(transactions[index].bytes))
            case .timedOut: timedOut.append(transactions[index].purpose)
            }
        }
        guard !timedOut.isEmpty else { return }
        transactions.removeAll { timedOut.contains($0.purpose) }
        for purpose in timedOut { giveUp(purpose, for: .timedOut, at: now, actions: &actions) }
    }

    private func isWaiting(for purpose: Purpose) -> Bool {
        transactions.contains { $0.purpose == purpose }
    }
}
