package import OffhookBasics

/// Finds where to send SIP: NAPTR, SRV, A and AAAA by RFC 3263.
///
/// It belongs to the loop's thread: every call is made there and completions are called there, never from inside a call
/// of ours. The machine's name servers are read when it is made; make a new one after the network has changed.
package final class NameResolver: @unchecked Sendable {
    package enum Transport: Hashable, Sendable {
        case udp, tcp, tls, webSocket, secureWebSocket
    }

    /// What a SIP URI says about where its requests go.
    package struct Query: Hashable, Sendable {
        /// The host of the URI or of its `maddr`: a name, or an address in text.
        package var host: String
        package var port: UInt16?
        package var transport: Transport?
        /// Whether it is a `sips` URI.
        package var isSecure = false

        package init(host: String, port: UInt16? = nil, transport: Transport? = nil, isSecure: Bool = false) {
            self.host = host
            self.port = port
            self.transport = transport
            self.isSecure = isSecure
        }
    }

    package struct Target: Hashable, Sendable {
        package let transport: Transport
        package let endpoint: Endpoint

        package init(transport: Transport, endpoint: Endpoint) {
            self.transport = transport
            self.endpoint = endpoint
        }
    }

    package struct Options: Sendable {
        /// The name servers to ask; empty takes the system's.
        package var servers: [Endpoint] = []
        /// How long the first attempt waits for an answer; each further one waits twice as long.
        package var timeout = Duration.seconds(2)
        package var attempts = 2
        /// What drives the choice among SRV records of one priority; nil takes dice of the system's.
        package var seed: UInt64?
        /// Transports that may be used where the URI leaves them open, best first.
        package var transports: [Transport] = [.udp, .tcp, .tls]

        package init() {}
    }

    // Everything here is the loop thread's alone.
    private let loop: EventLoop
    private let channel: NameChannel
    private let transports: [Transport]
    private var random: SeededRandom

    package init(on loop: EventLoop, options: Options = Options()) throws(IOError) {
        loop.assertOnLoop()
        self.loop = loop
        channel = try NameChannel(
            on: loop, servers: options.servers, timeout: options.timeout, attempts: options.attempts)
        transports = options.transports
        random = SeededRandom(seed: options.seed ?? .random(in: .min ... .max))
    }

    /// Where to send, best first and never empty; or why that is not known.
    package func resolve(_ query: Query, completion: @escaping (Result<[Target], IOError>) -> Void) {
        loop.assertOnLoop()
        if let fault = Self.fault(in: query.host) {
            loop.schedule(at: .zero) { completion(.failure(fault)) }
            return
        }
        if let kernel = loop.kernel {
            let transport = query.transport ?? (query.isSecure ? .tls : .udp)
            let port = query.port ?? (query.isSecure ? 5061 : 5060)
            let found = kernel.addresses?(query.host) ?? []
            let targets = found.map { Target(transport: transport, endpoint: Endpoint($0, port)) }
            loop.schedule(at: .zero) {
                completion(targets.isEmpty ? .failure(.noAddress(of: query.host)) : .success(targets))
            }
            return
        }
        let random = SeededRandom(seed: random.next())
        Resolution(self, ServerSearch(query, supported: transports, random: random), completion).start()
    }

    /// The addresses of a host, those to prefer first.
    package func addresses(of host: String, completion: @escaping (Result<[IPAddress], IOError>) -> Void) {
        loop.assertOnLoop()
        if let address = IPAddress(parsing: host) {
            loop.schedule(at: .zero) { completion(.success([address])) }
        } else if let fault = Self.fault(in: host) {
            loop.schedule(at: .zero) { completion(.failure(fault)) }
        } else if let kernel = loop.kernel {
            let found = kernel.addresses?(host) ?? []
            loop.schedule(at: .zero) { completion(found.isEmpty ? .failure(.noAddress(of: host)) : .success(found)) }
        } else {
            channel.ask(.addresses(host)) { answer in
                switch answer {
                case .addresses(let found) where !found.isEmpty: completion(.success(found))
                case .failed(let error): completion(.failure(error))
                case .addresses, .naptr, .srv: completion(.failure(.noAddress(of: host)))
                }
            }
        }
    }

    /// Fails what is still being looked up. Doing it twice is harmless.
    package func close() {
        loop.assertOnLoop()
        channel.close()
    }

    private static func fault(in host: String) -> IOError? {
        if IPAddress(parsing: host) != nil || HostName.isUsable(host) { return nil }
        let isPlain = host.utf8.allSatisfy { $0 < 0x80 }
        return IOError(
            .configuration,
            reason: isPlain
                ? "\"\(host)\" is not a host name; check its spelling."
                : "\"\(host)\" has letters that the name system does not take; write it in its ASCII form (xn--…).")
    }

    /// One search on its way; the open questions hold it.
    private final class Resolution {
        private let resolver: NameResolver
        private var search: ServerSearch
        private let completion: (Result<[Target], IOError>) -> Void

        init(
            _ resolver: NameResolver, _ search: ServerSearch,
            _ completion: @escaping (Result<[Target], IOError>) -> Void
        ) {
            self.resolver = resolver
            self.search = search
            self.completion = completion
        }

        func start() {
            var actions: [ServerSearch.Action] = []
            search.start(actions: &actions)
            perform(actions)
        }

        private func perform(_ actions: [ServerSearch.Action]) {
            for action in actions {
                switch action {
                case .lookUp(let lookUp):
                    resolver.channel.ask(lookUp) { answer in
                        var actions: [ServerSearch.Action] = []
                        self.search.receive(answer, for: lookUp, actions: &actions)
                        self.perform(actions)
                    }
                case .finish(let result):
                    let completion = completion
                    resolver.loop.schedule(at: .zero) { completion(result) }
                }
            }
        }
    }
}
