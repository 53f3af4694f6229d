public import OffhookBasics

/// An account: an address that calls come to and are made from.
public final class User: Sendable, Identifiable {
    /// Names an account in its process.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        package let value: UInt64

        package init(value: UInt64) {
            self.value = value
        }

        /// As in `user-1`.
        public var description: String { "user-\(value)" }
    }

    /// Which account it is.
    public let id = ID(value: ProcessCounter.next())
    /// The settings it was made with.
    public let configuration: UserConfiguration
    /// Its calls.
    public let callService: CallService
    /// Its sound and pictures.
    public let mediaServices: MediaServices

    private let front: ClientFront
    private let backend: any CallBackend
    private let status = Lock(Registration(state: .none))
    private let listening = Lock<[SignalingTransport: Endpoint]>([:])
    private let delegateBox = DelegateBox<any UserDelegate>()

    init(configuration: UserConfiguration, front: ClientFront, backend: any CallBackend) {
        self.configuration = configuration
        self.front = front
        self.backend = backend
        mediaServices = MediaServices(delegateQueue: front.delegateQueue)
        callService = CallService(user: id, account: configuration.address, front: front, backend: backend)
    }

    /// Hears how the registration fares. Held weakly.
    public var delegate: (any UserDelegate)? {
        get { delegateBox.delegate }
        set { delegateBox.set { [weak newValue] in newValue } }
    }

    /// How the account stands with its registrar.
    public var registration: Registration { status.withLock { $0 } }

    /// Where the account listens, by transport; empty before ``start()``. Here a port of 0 has become a real one.
    public var listeningEndpoints: [SignalingTransport: Endpoint] { listening.withLock { $0 } }

    /// Listens for calls and, where there is a server, registers; returns once that is done.
    ///
    /// - Throws: `portUnavailable`, `unreachable`, `authenticationFailed`, `registrationFailed`. After the last three
    ///   the account goes on trying where that may help, as ``Registration/retryAfter`` tells.
    public func start() async throws(CallError) {
        try await backend.startUser(id).get()
    }

    /// Ends the account's calls, and takes its registration back; a server that does not answer is waited for four seconds.
    ///
    /// ``start()`` that is under way then throws `cancelled`.
    public func stop() async {
        await backend.stopUser(id)
    }

    func apply(listening endpoints: [SignalingTransport: Endpoint]) {
        listening.withLock { $0 = endpoints }
    }

    func apply(_ registration: Registration) {
        let hasChanged = status.withLock { current in
            defer { current = registration }
            return current != registration
        }
        guard hasChanged else { return }
        front.delegateQueue.enqueue { [delegateBox] in
            delegateBox.delegate?.user(self, didChangeRegistration: registration)
        }
    }
}

/// Hears the news of an account, on the client's callback queue.
public protocol UserDelegate: AnyObject {
    /// The registration has changed, or failed, or will be tried again.
    func user(_ user: User, didChangeRegistration registration: Registration)
}

/// How an account stands with its registrar.
public struct Registration: Hashable, Sendable {
    /// The steps of a registration.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// There is no registrar: calls go peer to peer.
        case none
        /// Not registered, and not trying.
        case unregistered
        /// A REGISTER is out.
        case registering
        /// Calls to the address come here.
        case registered
        /// The registration is being taken back.
        case unregistering
        /// The last try failed.
        case failed
    }

    /// Which step it is at.
    public var state: State
    /// How long until the next try by itself; nil where there will be none.
    public var retryAfter: Duration?
    /// For how long the registrar has us at a time; nil while it does not.
    public var interval: Duration?
    /// Why the last try failed; nil where it did not.
    public var error: CallError?

    /// Makes a registration.
    public init(state: State, retryAfter: Duration? = nil, interval: Duration? = nil, error: CallError? = nil) {
        self.state = state
        self.retryAfter = retryAfter
        self.interval = interval
        self.error = error
    }
}
