public import Offhook
internal import OffhookBasics
internal import OffhookIO
internal import OffhookSIP

/// For demos and tests: a registrar and proxy in the same process.
///
/// It knows a few accounts, lets their devices register with digest authentication over UDP, and hands a call to all
/// devices of its account at once. It keeps nothing, and is no server for the open network.
///
/// ```swift
/// let exchange = try await LocalExchange(on: network, accounts: ["alice": "secret", "bob": nil])
/// let settings = UserConfiguration(
///     address: exchange.address(of: "alice"), credentials: .init(authenticationName: "alice", password: "secret"),
///     server: exchange.server)
/// ```
public final class LocalExchange: Sendable {
    /// What its addresses end with.
    public let domain: String
    /// Where accounts register.
    public let server: SignalingServer

    private let host: ExchangeHost

    /// Makes an exchange that lives on a simulated network, as the host `name.test`.
    ///
    /// - Parameter accounts: the names of the accounts and their passwords; without one an account takes anybody.
    /// - Throws: `invalidArgument` where the name is taken or no host name.
    public init(
        on network: SimulatedNetwork, named name: String = "exchange", accounts: [String: String?]
    ) async throws(CallError) {
        let address = try network.addHost(named: name)
        domain = "\(name.lowercased()).test"
        server = SignalingServer(domain, transport: .udp)
        host = try await ExchangeHost(
            loop: network.loop, ownsLoop: false, domain: domain, passwords: accounts, seed: network.seed,
            local: Endpoint(address, SimulatedNetwork.signalingPort))
    }

    /// Makes an exchange on this machine, reached by its loopback address.
    ///
    /// - Parameters:
    ///   - port: where it listens; 0 takes a free port.
    ///   - accounts: the names of the accounts and their passwords; without one an account takes anybody.
    /// - Throws: `portUnavailable`.
    public init(port: UInt16 = 0, accounts: [String: String?]) async throws(CallError) {
        let loop: EventLoop
        do throws(IOError) {
            loop = try EventLoop(name: "offhook-exchange")
        } catch {
            throw CallError(.portUnavailable, error.reason)
        }
        let local = Endpoint(IPAddress(version4: 0x7F00_0001), port)
        domain = "127.0.0.1"
        host = try await ExchangeHost(
            loop: loop, ownsLoop: true, domain: domain, passwords: accounts,
            seed: .random(in: .min ... .max), local: local)
        server = SignalingServer("127.0.0.1:\(host.port)", transport: .udp)
    }

    /// The SIP address of an account.
    public func address(of name: String) -> String {
        server.host.contains(":") ? "sip:\(name)@\(server.host)" : "sip:\(name)@\(domain)"
    }

    /// How many devices of an account are registered.
    public func deviceCount(of name: String) async -> Int {
        await host.deviceCount(of: name)
    }

    /// Stops listening. That of a simulated network ends with the network too.
    public func shutdown() async {
        await host.close()
    }
}

/// Gives an exchange its socket and its timer: an actor on a loop's thread.
actor ExchangeHost {
    nonisolated let port: UInt16
    private nonisolated let loop: EventLoop
    private let ownsLoop: Bool
    private var core: ExchangeCore
    private var socket: UDPSocket?
    private var timer: LoopTimer?
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        loop: EventLoop, ownsLoop: Bool, domain: String, passwords: [String: String?], seed: UInt64, local: Endpoint
    ) async throws(CallError) {
        let inbox = Inbox()
        let opened: Result<UDPSocket, IOError> = await withCheckedContinuation { continuation in
            loop.submit {
                do throws(IOError) {
                    let socket = try UDPSocket(
                        on: loop, boundTo: local,
                        reception: .datagrams { bytes, source, _ in inbox.take?(bytes, source) })
                    continuation.resume(returning: .success(socket))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        switch opened {
        case .failure(let error): throw CallError(.portUnavailable, error.reason)
        case .success(let socket):
            self.loop = loop
            self.ownsLoop = ownsLoop
            self.socket = socket
            port = socket.localEndpoint.port
            core = ExchangeCore(domain: domain, local: socket.localEndpoint, passwords: passwords, seed: seed)
        }
        connect(inbox)
    }

    /// What the socket brings before there is an actor to take it is lost, as on any network.
    private final class Inbox: @unchecked Sendable {
        // Set and called on the loop's thread alone.
        var take: (([UInt8], Endpoint) -> Void)?
    }

    private func connect(_ inbox: Inbox) {
        timer = loop.makeTimer { [weak self] in
            self?.assumeIsolated { host in host.step { $0.handle(timeoutAt: $1) } }
        }
        inbox.take = { [weak self] bytes, source in
            self?.assumeIsolated { host in host.step { $0.receive(bytes, from: source, at: $1) } }
        }
    }

    private func step(_ change: (inout ExchangeCore, Instant) -> Void) {
        change(&core, loop.now)
        for datagram in core.takeDatagrams() { socket?.send(datagram.bytes, to: datagram.target.remote) }
        timer?.arm(at: core.nextDeadline() ?? .distantFuture)
    }

    func deviceCount(of name: String) -> Int {
        let now = loop.now
        return core.accounts[name]?.bindings.count { $0.expiresAt > now } ?? 0
    }

    func close() async {
        guard socket != nil else { return }
        socket?.close()
        socket = nil
        timer?.disarm()
        let loop = loop
        if ownsLoop { await Task.detached { loop.shutdown() }.value }
    }
}
