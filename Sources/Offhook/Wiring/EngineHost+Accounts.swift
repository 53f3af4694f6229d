internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookEngine
internal import OffhookIO
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP
internal import OffhookSIP

/// Accounts: their settings, their registrations, their passwords.
extension EngineHost {
    // MARK: From the app

    nonisolated func addUser(
        _ user: User.ID, configuration: UserConfiguration, media: MediaServices
    ) throws(CallError) {
        let account = try EngineAccount(user, client: self.configuration, configuration)
        loop.submit { [self] in
            assumeIsolated { host in
                host.accounts[user] = Account(configuration: configuration, media: media)
                if let server = account.server { host.serverHosts.insert(server.host) }
                host.step { $0.setAccount(account) }
            }
        }
    }

    func startUser(_ user: User.ID) async -> CommandOutcome {
        do throws(CallError) { try open() } catch { return .failure(error) }
        guard accounts[user] != nil else { return .failure(CallError(.stopped, "The account was removed.")) }
        accounts[user]?.isStarted = true
        await findServers(of: user)
        guard accounts[user] != nil else { return .failure(CallError(.cancelled, "The account was stopped.")) }
        front.apply(listening: signaling?.endpoints ?? [:], to: user)
        if accounts[user]?.configuration.server == nil { tellAvailability(of: user, isAvailable: true) }
        let account = AccountHandle(number: user.value)
        let failure = await outcome { engine, token, now in engine.startAccount(account, token: token, at: now) }
        return failure.map { .failure(CallError($0)) } ?? .success(())
    }

    /// Looks the account's STUN and TURN servers up, and tells the engine.
    private func findServers(of user: User.ID) async {
        guard let settings = accounts[user]?.configuration, let ice = await iceSettings(for: settings),
            var account = engine.account(AccountHandle(number: user.value))
        else { return }
        account.ice = ice
        account.capabilities.canBundle = true
        // RFC 9143 §9.2 wants it offered too; linphone 5.1 then ends by a fault of its own in many a call.
        account.capabilities.answeredExtensions = [HeaderExtensionIdentifiers.mediaIdentificationURI]
        step { $0.setAccount(account) }
    }

    func stopUser(_ user: User.ID) async {
        guard accounts[user] != nil else { return }
        let account = AccountHandle(number: user.value)
        _ = await outcome { engine, token, now in engine.stopAccount(account, token: token, at: now) }
        accounts[user] = nil
        front.apply(CallServiceCapabilities(), to: user)
    }

    /// Does something that ends with `.finished`, and waits for that.
    func outcome(_ body: (inout CallEngine, CommandToken, Instant) -> Void) async -> CallFailure? {
        guard !isShutDown else { return CallFailure(.cancelled, "The client was shut down.") }
        let token = nextToken()
        let now = loop.now
        return await withCheckedContinuation { continuation in
            waiting[token] = continuation
            step { body(&$0, token, now) }
        }
    }

    // MARK: From the engine

    func tell(_ status: RegistrationStatus, of user: User.ID) {
        guard accounts[user] != nil else { return }
        front.apply(Registration(status), to: user)
        tellAvailability(of: user, isAvailable: status.state == .registered)
        if let failure = status.failure { log(.warning, failure.reason) }
    }

    private func tellAvailability(of user: User.ID, isAvailable: Bool) {
        var capabilities = CallServiceCapabilities()
        let capability: Capability = isAvailable ? .allowed : .denied(.notRegistered)
        capabilities[.createCall] = capability
        capabilities[.createVideoCall] = capability
        front.apply(capabilities, to: user)
    }

    /// Asks the app for a password, which may take its time.
    func askForPassword(_ question: CredentialQuestion, _ user: User.ID, realm: String, isRepeated: Bool) {
        guard let credentials = accounts[user]?.configuration.credentials else {
            submit { engine, now in engine.provide(nil, for: question, at: now) }
            return
        }
        let challenge = Credentials.Challenge(
            realm: realm, authenticationName: credentials.authenticationName, isRepeated: isRepeated)
        // What the app does to find the password must not run on the loop.
        Task.detached { [weak self] in
            let password = await credentials.password(challenge)
            self?.submit { engine, now in engine.provide(password, for: question, at: now) }
        }
    }
}

extension EngineAccount {
    /// What an account's settings mean; throws where they do not parse.
    init(_ user: User.ID, client: ClientConfiguration, _ settings: UserConfiguration) throws(CallError) {
        guard let uri = URI(parsing: settings.address), let sip = uri.sip, !sip.host.text.isEmpty else {
            throw CallError(.invalidArgument, "“\(settings.address)” is no SIP address: write it as sip:name@domain.")
        }
        self.init(
            handle: AccountHandle(number: user.value),
            identity: NameAddress(displayName: settings.displayName, uri: uri),
            capabilities: try MediaCapabilities(client, settings))
        videoAddPolicy = VideoAddPolicy(settings.addVideoPolicy ?? client.addVideoPolicy)
        followsTransfers = client.transferPolicy == .follow
        authenticationName = settings.credentials?.authenticationName
        if let registrar = settings.server {
            server = try ResolveQuery(registrar, isSecure: sip.isSecure)
            var registration = RegistrationSettings(instance: Self.instance(of: settings.address))
            let seconds = settings.registrationInterval.inNanoseconds / 1_000_000_000
            registration.interval = UInt32(clamping: max(seconds, 1))
            self.registration = registration
        }
        guard let proxy = settings.outboundProxy else { return }
        guard var sip = URI(parsing: proxy.hasPrefix("sip:") || proxy.hasPrefix("sips:") ? proxy : "sip:\(proxy)")?.sip
        else { throw CallError(.invalidArgument, "“\(proxy)” is no proxy address: write it as sip:host;lr.") }
        if !sip.isLooseRouter { sip.parameters.setFlag("lr") }
        routes = [NameAddress(uri: .sip(sip))]
        server = ResolveQuery(to: sip)
    }

    /// A name for this device and account that stays the same after a restart (RFC 5626 §4.1).
    private static func instance(of address: String) -> String {
        let digest = DigestAlgorithm.sha256.hash("\(MachineIdentity.text):\(address)".utf8)
        var bytes = Array(digest.prefix(16))
        // Version 8, a hash of the maker's own choice (RFC 9562 §5.8).
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
        return "urn:uuid:" + groups.joined(separator: "-")
    }
}

extension ResolveQuery {
    /// Reads the server of an account: a host or an address, and a port where it is not the usual one.
    init(_ server: SignalingServer, isSecure: Bool) throws(CallError) {
        let text = server.host
        let error = CallError(
            .invalidArgument, "“\(text)” is no server: write it as host, host:port, address:port or [address]:port.")
        let transport = server.transport.map { SIPTransport($0) }
        if let endpoint = Endpoint(parsing: text) {
            self.init(
                host: SIPHost(endpoint.address), port: endpoint.port, transport: transport, isSecure: isSecure)
            return
        }
        if let address = IPAddress(parsing: text) {
            self.init(host: SIPHost(address), port: nil, transport: transport, isSecure: isSecure)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty, parts.count <= 2,
            name.utf8.allSatisfy({ Self.isHostCharacter($0) })
        else { throw error }
        var port: UInt16?
        if parts.count == 2 {
            guard let number = UInt16(parts[1]), number > 0 else { throw error }
            port = number
        }
        self.init(host: SIPHost(String(name)), port: port, transport: transport, isSecure: isSecure)
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        byte == 0x2D || byte == 0x2E || byte == 0x5F || (0x30...0x39).contains(byte)
            || (0x41...0x5A).contains(byte & 0xDF)
    }
}

extension SIPTransport {
    init(_ transport: SignalingTransport) {
        self =
            switch transport {
            case .udp: .udp
            case .tcp: .tcp
            case .tls: .tls
            case .webSocket: .webSocket
            case .secureWebSocket: .secureWebSocket
            }
    }
}
