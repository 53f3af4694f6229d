internal import OffhookBasics

/// A NAPTR record, RFC 3403 §4.1.
struct NAPTRRecord: Equatable {
    var order: UInt16
    var preference: UInt16
    var flags: String
    var service: String
    var replacement: String
}

/// An SRV record, RFC 2782.
struct SRVRecord: Equatable {
    var priority: UInt16
    var weight: UInt16
    var port: UInt16
    var target: String
}

/// The search for where to send to one SIP URI, RFC 3263 §4, as a machine: answers of the name system in, look-ups out.
struct ServerSearch {
    typealias Transport = NameResolver.Transport
    typealias Target = NameResolver.Target

    enum LookUp: Hashable {
        case naptr(String)
        case srv(String)
        case addresses(String)
    }

    enum Answer: Equatable {
        case naptr([NAPTRRecord])
        case srv([SRVRecord])
        case addresses([IPAddress])
        case failed(IOError)
    }

    enum Action: Equatable {
        case lookUp(LookUp)
        case finish(Result<[Target], IOError>)
    }

    /// What hostile records may make us ask.
    private static let serviceLimit = 8
    private static let hostLimit = 16

    private struct Service {
        var transport: Transport
        var name: String
        /// Nil until the answer is there.
        var records: [SRVRecord]?
    }

    private struct Host {
        var transport: Transport
        var name: String
        var port: UInt16
        /// Nil until the answer is there.
        var addresses: [IPAddress]?
    }

    private enum State {
        case askingForTransports
        case askingForServices([Service])
        case askingForAddresses([Host])
        case finished
    }

    private let query: NameResolver.Query
    private let supported: [Transport]
    private var random: SeededRandom
    private var state = State.askingForTransports
    /// Why a look-up failed; the first one that is more than "there is no such name" tells the most.
    private var failure: IOError?

    init(_ query: NameResolver.Query, supported: [Transport], random: SeededRandom) {
        self.query = query
        self.supported = supported
        self.random = random
    }

    mutating func start(actions: inout [Action]) {
        if let explicit = query.transport {
            guard let transport = secured(explicit) else { return refuseInsecure(explicit, actions: &actions) }
            startKnowing(transport, actions: &actions)
        } else if IPAddress(parsing: query.host) != nil || query.port != nil {
            // §4.1: without NAPTR, UDP for sip and TLS for sips.
            startKnowing(fallbackTransport, actions: &actions)
        } else {
            actions.append(.lookUp(.naptr(query.host)))
        }
    }

    mutating func receive(_ answer: Answer, for lookUp: LookUp, actions: inout [Action]) {
        if case .failed(let error) = answer { note(error) }
        switch state {
        case .askingForTransports:
            guard case .naptr = lookUp else { return }
            receiveTransports(answer, actions: &actions)
        case .askingForServices(var services):
            guard case .srv(let name) = lookUp else { return }
            for index in services.indices where services[index].name == name && services[index].records == nil {
                if case .srv(let records) = answer {
                    services[index].records = records
                } else {
                    services[index].records = []
                }
            }
            state = .askingForServices(services)
            if services.allSatisfy({ $0.records != nil }) { finishServices(services, actions: &actions) }
        case .askingForAddresses(var hosts):
            guard case .addresses(let name) = lookUp else { return }
            for index in hosts.indices where hosts[index].name == name && hosts[index].addresses == nil {
                if case .addresses(let found) = answer {
                    hosts[index].addresses = found
                } else {
                    hosts[index].addresses = []
                }
            }
            state = .askingForAddresses(hosts)
            if hosts.allSatisfy({ $0.addresses != nil }) { finishHosts(hosts, actions: &actions) }
        case .finished: break
        }
    }

    // MARK: Transports

    private var fallbackTransport: Transport { query.isSecure ? .tls : .udp }

    /// What a transport is for a sips URI; nil where it cannot be secured.
    private func secured(_ transport: Transport) -> Transport? {
        guard query.isSecure else { return transport }
        switch transport {
        case .udp: return nil
        case .tcp, .tls: return .tls
        case .webSocket, .secureWebSocket: return .secureWebSocket
        }
    }

    private mutating func refuseInsecure(_ transport: Transport, actions: inout [Action]) {
        let error = IOError(
            .configuration, reason: "A sips URI cannot be reached over UDP; leave the transport out or use TCP or TLS.")
        finish(.failure(error), actions: &actions)
    }

    private mutating func receiveTransports(_ answer: Answer, actions: inout [Action]) {
        var services: [Service] = []
        if case .naptr(let records) = answer {
            for record in records.sorted(by: { ($0.order, $0.preference) < ($1.order, $1.preference) }) {
                // §4.1: the "s" flag alone leads to SRV records; others are of other uses of NAPTR.
                guard record.flags.lowercased() == "s", let transport = Self.transport(ofService: record.service),
                    supported.contains(transport), !query.isSecure || secured(transport) == transport,
                    HostName.isUsable(record.replacement)
                else { continue }
                services.append(Service(transport: transport, name: record.replacement))
            }
        }
        if case .failed(let error) = answer, error.kind == .nameServerFailed {
            // No server to ask: what the machine knows by itself is all there is.
            return askForAddresses(
                [Host(transport: fallbackTransport, name: query.host, port: fallbackTransport.defaultPort)],
                actions: &actions)
        }
        if services.isEmpty {
            // §4.1: without NAPTR records, each transport that we speak is tried by its SRV name.
            services = supported.compactMap { transport in
                guard secured(transport) == transport, let prefix = transport.servicePrefix else { return nil }
                return Service(transport: transport, name: prefix + query.host)
            }
        }
        askForServices(services, actions: &actions)
    }

    private static func transport(ofService service: String) -> Transport? {
        switch service.uppercased() {
        case "SIP+D2U": .udp
        case "SIP+D2T": .tcp
        case "SIPS+D2T": .tls
        case "SIP+D2W": .webSocket
        case "SIPS+D2W": .secureWebSocket
        default: nil
        }
    }

    // MARK: Services

    /// §4.2: with a port, or an address, there are no SRV records to look for.
    private mutating func startKnowing(_ transport: Transport, actions: inout [Action]) {
        if let address = IPAddress(parsing: query.host) {
            let endpoint = Endpoint(address, query.port ?? transport.defaultPort)
            finish(.success([Target(transport: transport, endpoint: endpoint)]), actions: &actions)
        } else if let prefix = transport.servicePrefix, query.port == nil {
            askForServices([Service(transport: transport, name: prefix + query.host)], actions: &actions)
        } else {
            let port = query.port ?? transport.defaultPort
            askForAddresses([Host(transport: transport, name: query.host, port: port)], actions: &actions)
        }
    }

    private mutating func askForServices(_ services: [Service], actions: inout [Action]) {
        let services = Array(services.prefix(Self.serviceLimit))
        guard !services.isEmpty else { return finishServices([], actions: &actions) }
        state = .askingForServices(services)
        var asked: Set<String> = []
        for service in services where asked.insert(service.name).inserted {
            actions.append(.lookUp(.srv(service.name)))
        }
    }

    private mutating func finishServices(_ services: [Service], actions: inout [Action]) {
        var hosts: [Host] = []
        var isDenied = false
        for service in services {
            for record in ordered(service.records ?? []) {
                // RFC 2782: a target of "." says that the service is decidedly not there.
                if record.target.isEmpty || record.target == "." {
                    isDenied = true
                } else if HostName.isUsable(record.target) {
                    hosts.append(Host(transport: service.transport, name: record.target, port: record.port))
                }
            }
        }
        if hosts.isEmpty && isDenied {
            let error = IOError(
                .nameNotFound, reason: "\(query.host) says that it offers no SIP over the transports that are on.")
            return finish(.failure(error), actions: &actions)
        }
        if hosts.isEmpty {
            // §4.2: without SRV records, the name itself at the usual port.
            let transport = query.transport.flatMap(secured) ?? fallbackTransport
            hosts = [Host(transport: transport, name: query.host, port: transport.defaultPort)]
        }
        askForAddresses(hosts, actions: &actions)
    }

    /// RFC 2782: by priority, and within one at random by weight.
    private mutating func ordered(_ records: [SRVRecord]) -> [SRVRecord] {
        var result: [SRVRecord] = []
        for priority in Set(records.map(\.priority)).sorted() {
            // Those of weight 0 first, so that they have a small chance.
            var rest = records.filter { $0.priority == priority }.sorted { $0.weight < $1.weight }
            while !rest.isEmpty {
                let total = rest.reduce(UInt64(0)) { $0 + UInt64($1.weight) }
                let drawn = UInt64.random(in: 0...total, using: &random)
                var sum: UInt64 = 0
                let index = rest.firstIndex { record in
                    sum += UInt64(record.weight)
                    return sum >= drawn
                }
                result.append(rest.remove(at: index ?? 0))
            }
        }
        return result
    }

    // MARK: Addresses

    private mutating func askForAddresses(_ hosts: [Host], actions: inout [Action]) {
        let hosts = hosts.prefix(Self.hostLimit).map { host in
            var host = host
            // A target should be a name, but where it is an address it means what it says.
            host.addresses = IPAddress(parsing: host.name).map { [$0] }
            return host
        }
        state = .askingForAddresses(hosts)
        var asked: Set<String> = []
        for host in hosts where host.addresses == nil && asked.insert(host.name).inserted {
            actions.append(.lookUp(.addresses(host.name)))
        }
        if asked.isEmpty { finishHosts(hosts, actions: &actions) }
    }

    private mutating func finishHosts(_ hosts: [Host], actions: inout [Action]) {
        var targets: [Target] = []
        for host in hosts {
            for address in host.addresses ?? [] {
                let target = Target(transport: host.transport, endpoint: Endpoint(address, host.port))
                if !targets.contains(target) { targets.append(target) }
            }
        }
        guard targets.isEmpty else { return finish(.success(targets), actions: &actions) }
        finish(.failure(failure ?? .noAddress(of: query.host)), actions: &actions)
    }

    private mutating func note(_ error: IOError) {
        guard let known = failure, known.kind != .nameNotFound else {
            failure = error
            return
        }
    }

    private mutating func finish(_ result: Result<[Target], IOError>, actions: inout [Action]) {
        state = .finished
        actions.append(.finish(result))
    }
}

extension NameResolver.Transport {
    /// RFC 3261 §19.1.2, RFC 7118.
    var defaultPort: UInt16 {
        switch self {
        case .udp, .tcp: 5060
        case .tls: 5061
        case .webSocket: 80
        case .secureWebSocket: 443
        }
    }

    /// What stands before a domain in the name of its SRV records, RFC 3263 §4.1; nil where there are none.
    var servicePrefix: String? {
        switch self {
        case .udp: "_sip._udp."
        case .tcp: "_sip._tcp."
        case .tls: "_sips._tcp."
        case .webSocket, .secureWebSocket: nil
        }
    }
}

/// Names as the name system takes them.
enum HostName {
    /// Letters, digits, hyphens and underscores between dots, RFC 1035 §2.3.1; what else there is would mean something
    /// to the C library (a backslash, a zero byte).
    static func isUsable(_ name: String) -> Bool {
        let labels = (name.hasSuffix(".") ? name.dropLast() : name[...]).utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= 254
            && labels.allSatisfy { label in
                (1...63).contains(label.count)
                    && label.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }
}

extension IOError {
    static func noAddress(of host: String) -> IOError {
        IOError(.nameNotFound, reason: "\(host) has no address; check the name.")
    }
}
