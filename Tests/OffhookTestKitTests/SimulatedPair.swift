import Dispatch
import Offhook
import OffhookTestKit

/// Alice and Bob on a network, both started.
struct SimulatedPair {
    let network: SimulatedNetwork
    let caller: User
    let callee: User
    let calleeAddress = "sip:bob@bob.test"
    let callerQueue: DispatchQueue
    /// Held here, since a service does not hold its delegate.
    let receptionist: Answering
    /// What checks the news of the called side, where that was asked for.
    let conformance: CallDelegateConformance?

    init(
        seed: UInt64 = 1, conditions: NetworkConditions = NetworkConditions(), answering receptionist: Answering,
        isChecked: Bool = false, configuration: ClientConfiguration = ClientConfiguration()
    ) async throws {
        let network = SimulatedNetwork(seed: seed, conditions: conditions)
        let alice = try network.makeClient(named: "alice", configuration: configuration)
        let bob = try network.makeClient(named: "bob", configuration: configuration)
        let caller = try alice.createUser(UserConfiguration(address: "sip:alice@alice.test"))
        let callee = try bob.createUser(UserConfiguration(address: "sip:bob@bob.test"))
        if isChecked {
            let conformance = CallDelegateConformance(callbackQueue: bob.callbackQueue, forwardingTo: receptionist)
            callee.callService.delegate = conformance
            self.conformance = conformance
        } else {
            callee.callService.delegate = receptionist
            conformance = nil
        }
        self.network = network
        self.receptionist = receptionist
        self.caller = caller
        self.callee = callee
        callerQueue = alice.callbackQueue
        try await network.run {
            try await caller.start()
            try await callee.start()
        }
    }
}
