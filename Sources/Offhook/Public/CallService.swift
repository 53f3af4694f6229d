internal import OffhookBasics

/// The calls of one account.
public final class CallService: Sendable {
    private struct State {
        var calls: [Call] = []
        var activeCall: Call?
        var capabilities = CallServiceCapabilities()
    }

    enum Arrival: Sendable {
        case didCreate
        case didReceiveIncomingCall
    }

    /// Whose calls they are.
    public let userID: User.ID

    private let account: String
    let front: ClientFront
    let backend: any CallBackend
    private let state = Lock(State())
    private let delegateBox = DelegateBox<any CallServiceDelegate>()

    init(user: User.ID, account: String, front: ClientFront, backend: any CallBackend) {
        userID = user
        self.account = account
        self.front = front
        self.backend = backend
    }

    /// Hears of calls that come and go. Held weakly.
    public var delegate: (any CallServiceDelegate)? {
        get { delegateBox.delegate }
        set { delegateBox.set { [weak newValue] in newValue } }
    }

    /// The calls that are not over, oldest first.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The calls that were told to stop ringing and are still there.
    public var ignoredCalls: [Call] { calls.filter { $0.state == .ignored } }

    /// The call that has the conversation: up, and not held by us.
    public var activeCall: Call? { state.withLock { $0.activeCall } }

    /// Whether we hold a call.
    public var hasHeldCall: Bool { calls.contains { $0.isHeld } }

    /// What can be done now.
    public var capabilities: CallServiceCapabilities { state.withLock { $0.capabilities } }

    /// Makes a call. Nothing is sent before ``Call/start()``.
    ///
    /// - Parameters:
    ///   - address: a SIP or tel URI, `name@host`, `host:port`, or a name or number alone, which is then one of the
    ///     account's own domain.
    ///   - options: what else to say in the INVITE.
    /// - Throws: `invalidArgument` where the address does not parse.
    public func createCall(to address: String, options: CallOptions = CallOptions()) throws(CallError) -> Call {
        let id = Call.ID.next()
        let status = try backend.addCall(
            id, of: userID, to: CallAddress.complete(address, account: account), options: options)
        let call = Call(id: id, direction: .outgoing, status: status, callService: self)
        front.add(call)
        return call
    }

    // MARK: From the front

    func add(_ call: Call, news: Arrival) {
        state.withLock { $0.calls.append(call) }
        tell { service, delegate in
            switch news {
            case .didCreate: delegate.callService(service, didCreate: call)
            case .didReceiveIncomingCall: delegate.callService(service, didReceiveIncomingCall: call)
            }
        }
    }

    func remove(_ call: Call) {
        state.withLock { $0.calls.removeAll { $0 === call } }
        tell { service, delegate in delegate.callService(service, didRemove: call) }
    }

    /// Finds out which call has the conversation: the one that had it as long as it may, else the newest that may.
    func update() {
        let changed = state.withLock { state -> Call?? in
            if let active = state.activeCall, active.status.isActive { return nil }
            let next = state.calls.last { $0.status.isActive }
            guard next !== state.activeCall else { return nil }
            state.activeCall = next
            return .some(next)
        }
        guard let active = changed else { return }
        tell { service, delegate in delegate.callService(service, didChangeActiveCall: active) }
    }

    func apply(_ capabilities: CallServiceCapabilities) {
        let earlier = state.withLock { state in
            defer { state.capabilities = capabilities }
            return state.capabilities
        }
        let names = capabilities.changes(from: earlier)
        guard !names.isEmpty else { return }
        tell { service, delegate in
            // The reason may change while calls cannot be made: that is told by the capabilities alone.
            if capabilities[.createCall].isAllowed != earlier[.createCall].isAllowed {
                if capabilities[.createCall].isAllowed {
                    delegate.callServiceDidBecomeAvailable(service)
                } else {
                    delegate.callServiceDidBecomeUnavailable(service)
                }
            }
            delegate.callService(service, didChangeCapabilities: names)
        }
    }

    private func tell(_ news: @escaping @Sendable (CallService, any CallServiceDelegate) -> Void) {
        front.delegateQueue.enqueue { [self] in
            guard let delegate = delegateBox.delegate else { return }
            news(self, delegate)
        }
    }
}

/// What a call service can do now.
public struct CallServiceCapabilities: Hashable, Sendable {
    /// The name of one capability of a call service.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name as the source writes it.
        public let rawValue: String

        /// Makes a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Calls can be made.
        public static let createCall = Name(rawValue: "createCall")
        /// Calls with video can be made.
        public static let createVideoCall = Name(rawValue: "createVideoCall")
        /// Every name there is.
        public static let all: [Name] = [.createCall, .createVideoCall]
    }

    private var capabilities: [Name: Capability] = [:]

    /// Nothing can be done.
    public init() {}

    /// The capability of this name.
    public subscript(name: Name) -> Capability {
        get { capabilities[name] ?? .denied(.invalidState) }
        set { capabilities[name] = newValue }
    }

    /// The names whose capabilities differ.
    public func changes(from earlier: CallServiceCapabilities) -> Set<Name> {
        Set(Name.all.filter { self[$0] != earlier[$0] })
    }
}
