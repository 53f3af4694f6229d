public import Dispatch

/// One event loop, one media engine, and any number of accounts.
///
/// A client lives until ``shutdown()``, whether or not anybody holds it.
///
/// ```swift
/// let client = Client()
/// let user = try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
/// try await user.start()
/// ```
public final class Client: Sendable {
    /// The settings it was made with.
    public let configuration: ClientConfiguration
    /// Where all delegates are called.
    public let callbackQueue: DispatchQueue

    private let front: ClientFront
    private let backend: any CallBackend

    /// Makes a client. It opens no port before an account is started.
    ///
    /// - Parameters:
    ///   - configuration: its settings; every one has a default that works.
    ///   - callbackQueue: where all delegates are called, one at a time even if the queue is concurrent.
    public convenience init(configuration: ClientConfiguration = .init(), callbackQueue: DispatchQueue = .main) {
        self.init(configuration: configuration, callbackQueue: callbackQueue) { front in
            Self.makeBackend(configuration: configuration, front: front)
        }
    }

    /// Makes a client on a backend of the caller's.
    package init(
        configuration: ClientConfiguration = .init(), callbackQueue: DispatchQueue = .main,
        backend: (ClientFront) -> any CallBackend
    ) {
        self.configuration = configuration
        self.callbackQueue = callbackQueue
        front = ClientFront(callbackQueue: callbackQueue)
        self.backend = backend(front)
    }

    /// The accounts, in the order they were made.
    public var users: [User] { front.users }

    /// How much news there was so far, and whether delegates have heard all of it to the end.
    package var newsProgress: (count: Int, isDone: Bool) { front.delegateQueue.progress }

    /// Makes an account. Nothing is sent before ``User/start()``.
    ///
    /// - Throws: `invalidArgument` where the address or the server does not parse.
    public func createUser(_ configuration: UserConfiguration) throws(CallError) -> User {
        let user = User(configuration: configuration, front: front, backend: backend)
        try backend.addUser(user.id, configuration: configuration, media: user.mediaServices)
        front.add(user)
        return user
    }

    /// Ends all calls, takes back all registrations, and frees the ports and threads.
    ///
    /// Servers and far ends that do not answer are waited for no longer than four seconds in all.
    public func shutdown() async {
        await backend.shutdown()
        front.removeAll()
    }
}
