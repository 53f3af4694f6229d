package import Dispatch
internal import FoundationEssentials
package import OffhookBasics

/// Where news enters: it brings the statuses that apps read up to date, then tells the delegates on the app's queue.
///
/// Called by the backend, on the loop's thread.
package final class ClientFront: Sendable {
    private struct State {
        var users: [User] = []
        var calls: [Call.ID: Call] = [:]
    }

    let delegateQueue: DelegateQueue
    private let state = Lock(State())

    package init(callbackQueue: DispatchQueue) {
        delegateQueue = DelegateQueue(queue: callbackQueue)
    }

    // MARK: From the backend

    /// Makes an incoming call known to the app, and gives its id.
    ///
    /// `status` tells all that the INVITE told; its state is `alerting`.
    @discardableResult
    package func addIncomingCall(_ id: Call.ID = .next(), to user: User.ID, status: CallStatus) -> Call.ID? {
        guard let user = state.withLock({ $0.users.first { $0.id == user } }) else { return nil }
        var status = status
        status.startDate = Date()
        let call = Call(id: id, direction: .incoming, status: status, callService: user.callService)
        state.withLock { $0.calls[call.id] = call }
        user.callService.add(call, news: .didReceiveIncomingCall)
        user.mediaServices.audioInterface.tones.follow(.arrival, of: call)
        return call.id
    }

    /// Makes a call known to the app that the backend makes by itself, as after a transfer.
    package func addOutgoingCall(_ id: Call.ID, to user: User.ID, status: CallStatus) {
        guard let user = state.withLock({ $0.users.first { $0.id == user } }) else { return }
        add(Call(id: id, direction: .outgoing, status: status, callService: user.callService))
    }

    /// Changes a call's status, then tells its delegate this news. `didEnd` also takes the call from its service.
    ///
    /// The news is of what has changed: `isHeld`, `videoChannels` and the like are for `update` to set.
    package func apply(
        _ news: CallNews..., to call: Call.ID, update: (inout CallStatus) -> Void = { _ in }
    ) {
        apply(news, to: call, update: update)
    }

    /// Changes a call's status, then tells its delegate this news. `didEnd` also takes the call from its service.
    package func apply(_ news: [CallNews], to id: Call.ID, update: (inout CallStatus) -> Void) {
        guard let call = state.withLock({ $0.calls[id] }) else { return }
        let hasEnded = call.apply(news, at: Date(), update: update)
        if let tones = tones(of: call) {
            for item in news { tones.follow(.news(item), of: call) }
        }
        call.callService.update()
        guard hasEnded else { return }
        state.withLock { $0.calls[id] = nil }
        call.callService.remove(call)
    }

    /// Keeps figures that outlive the streams of a call that is about to end.
    package func keep(_ statistics: CallStatistics, of call: Call.ID) {
        state.withLock { $0.calls[call] }?.keep(statistics)
    }

    /// Changes an account's registration, then tells its delegate.
    package func apply(_ registration: Registration, to user: User.ID) {
        state.withLock { $0.users.first { $0.id == user } }?.apply(registration)
    }

    /// Tells where an account listens, before its start returns.
    package func apply(listening endpoints: [SignalingTransport: Endpoint], to user: User.ID) {
        state.withLock { $0.users.first { $0.id == user } }?.apply(listening: endpoints)
    }

    /// Tells whether an account's calls can be made, and why not.
    package func apply(_ capabilities: CallServiceCapabilities, to user: User.ID) {
        state.withLock { $0.users.first { $0.id == user } }?.callService.apply(capabilities)
    }

    /// Who plays ringing and the like for a call.
    func tones(of call: Call) -> CallTones? {
        let user = state.withLock { $0.users.first { $0.id == call.callService.userID } }
        return user?.mediaServices.audioInterface.tones
    }

    // MARK: From the app

    var users: [User] { state.withLock { $0.users } }

    func add(_ user: User) {
        state.withLock { $0.users.append(user) }
    }

    func add(_ call: Call) {
        state.withLock { $0.calls[call.id] = call }
        call.callService.add(call, news: .didCreate)
    }

    func removeAll() {
        state.withLock { $0 = State() }
    }
}
