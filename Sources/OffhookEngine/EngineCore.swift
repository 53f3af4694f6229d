internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookRTP
internal import OffhookSIP

/// What all calls of an engine share, handed to each while it is at work.
struct EngineCore {
    let configuration: EngineConfiguration
    let clock: NTPClock
    /// Our certificate for DTLS-SRTP; nil where none could be made, and then DTLS is not offered.
    let identity: DTLSIdentity?
    var random: SeededRandom
    var userAgent: SIPUserAgent
    var pool = PacketPool()
    /// The instant of the event at hand.
    var now: Instant
    /// Our address that the message at hand came to.
    var localAddress: IPAddress?
    /// What the user agent wants, in order; the engine works it off after each event.
    var actions: [UserAgentAction] = []
    /// Which call owns a media socket.
    private(set) var owners: [MediaSocketID: CallHandle] = [:]
    /// Which call has a connection to a TURN server.
    private var relayOwners: [RelayConnectionID: CallHandle] = [:]
    /// Which call owns a SIP session.
    var sessionOwners: [SessionID: CallHandle] = [:]
    /// Which account, or nobody, a request outside sessions belongs to.
    var requestOwners: [RequestID: AccountHandle] = [:]
    /// By account, where it has credentials.
    var digests: [AccountHandle: DigestClient] = [:]
    var challenged: [RequestID: ChallengedRequest] = [:]
    /// Which request waits for the answer to a question for a password.
    var credentialQuestions: [CredentialQuestion: RequestID] = [:]
    /// By account, where it registers and has been started.
    var registrations: [AccountHandle: RegistrationMachine] = [:]
    /// Why the latest target failed, while its failure is worked off.
    var transportFailure: String?
    /// Whose sessions they were that ended lately: a server may yet ask for credentials for a BYE.
    var endedSessions: [(session: SessionID, account: AccountHandle)] = []
    /// Calls to be made because far ends asked for them.
    var transferRequests: [TransferRequest] = []
    /// Calls that changed and whose deadlines are to be looked at.
    var touched: Set<CallHandle> = []
    private var outputs: [EngineOutput] = []
    private var outputIndex = 0
    private var sparePorts: [MediaPorts] = []
    private var lastNumber: UInt64

    init(configuration: EngineConfiguration, clock: NTPClock, seed: UInt64, firstNumber: UInt64, now: Instant) {
        self.configuration = configuration
        self.clock = clock
        identity = try? DTLSIdentity(unixTime: clock.time(at: now).unixSeconds)
        self.now = now
        lastNumber = firstNumber
        random = SeededRandom(seed: seed)
        userAgent = SIPUserAgent(configuration: configuration.userAgent, seed: random.next())
    }

    mutating func output(_ output: EngineOutput) {
        outputs.append(output)
    }

    /// The outputs in order; the storage is used again once all are taken.
    mutating func nextOutput() -> EngineOutput? {
        guard outputIndex < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            outputIndex = 0
            return nil
        }
        defer { outputIndex += 1 }
        return outputs[outputIndex]
    }

    /// A number not given out before.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Sockets

    var sparePortCount: Int { sparePorts.count }

    mutating func addSpare(_ ports: MediaPorts) {
        sparePorts.append(ports)
    }

    mutating func takePorts() -> MediaPorts? {
        sparePorts.popLast()
    }

    mutating func claim(_ ports: MediaPorts, for call: CallHandle) {
        owners[ports.rtp] = call
        owners[ports.rtcp] = call
    }

    /// Has a connection made to a TURN server.
    mutating func connect(to relay: ICESettings.Relay, for call: CallHandle) -> RelayConnectionID {
        let id = RelayConnectionID(number: nextNumber())
        relayOwners[id] = call
        output(.connectRelay(id, relay))
        return id
    }

    func owner(of relay: RelayConnectionID) -> CallHandle? { relayOwners[relay] }

    mutating func close(_ relay: RelayConnectionID) {
        guard relayOwners.removeValue(forKey: relay) != nil else { return }
        output(.closeRelay(relay))
    }

    /// A call is done with its sockets. They are closed, not used again: late packets of its far end must reach no other.
    mutating func release(_ ports: MediaPorts) {
        owners[ports.rtp] = nil
        owners[ports.rtcp] = nil
        output(.closePorts(ports))
    }
}
