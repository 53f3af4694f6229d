import OffhookBasics
import OffhookICE

/// A controlling far side that does just what a test tells it.
struct ScriptedPeer {
    let credentials = ICECredentials(userFragment: "peer", password: "abcdefghijklmnopqrstuvwx")
    private let local: ICECredentials

    init(of agent: ICEAgent, stream: ICEStreamID) {
        local = agent.localCredentials(of: stream) ?? credentials
    }

    func request(number: UInt64, nominating: Bool = false, adding more: [STUNAttribute] = []) -> STUNMessage {
        var attributes: [STUNAttribute] = [
            .username(Array("\(local.userFragment):\(credentials.userFragment)".utf8)), .priority(1_000_000),
            .iceControlling(7),
        ]
        if nominating { attributes.append(.useCandidate) }
        return STUNMessage(
            .request, .binding, transactionID: STUNTransactionID(high: 1, low: number), attributes: attributes + more)
    }

    func signed(_ message: STUNMessage) -> [UInt8] {
        message.bytes(key: STUNKey(shortTerm: local.password), authenticator: Authenticator())
    }

    func check(
        _ agent: inout ICEAgent, from source: Endpoint, on socket: SocketID, nominating: Bool, at now: Instant,
        actions: inout [ICEAction]
    ) {
        let bytes = signed(request(number: UInt64(now.nanoseconds), nominating: nominating))
        _ = bytes.withUnsafeBytes {
            agent.receive($0.bytes, on: socket, from: source, at: now, actions: &actions)
        }
    }

    /// Answers every request that is among the actions, and takes it out.
    func answer(_ agent: inout ICEAgent, on socket: SocketID, at now: Instant, actions: inout [ICEAction]) {
        let pending = actions
        actions = []
        for case .send(let bytes, _, let destination) in pending {
            guard let message = try? STUNMessage(bytes), message.messageClass == .request else { continue }
            let answer = STUNMessage(
                .success, .binding, transactionID: message.transactionID,
                attributes: [.xorMappedAddress(Endpoint("192.0.2.1:4000"))]
            ).bytes(key: STUNKey(shortTerm: credentials.password), authenticator: Authenticator())
            _ = answer.withUnsafeBytes {
                agent.receive($0.bytes, on: socket, from: destination, at: now, actions: &actions)
            }
        }
    }
}
