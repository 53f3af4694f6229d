import OffhookBasics
import OffhookICE
import Testing

extension Simulation {
    func gathered(_ side: Int) -> [ICECandidate] {
        sides[side].actions.compactMap { if case .gathered(let candidate, _) = $0 { candidate } else { nil } }
    }

    /// What a side selected last for a component of its first stream.
    func selected(_ side: Int, component: UInt16 = 1) -> ICESelectedPair? {
        let wanted = ICEComponentID(sides[side].streams[0], component)
        return sides[side].actions.compactMap { action in
            if case .selected(let pair, wanted) = action { pair } else { nil }
        }.last
    }

    mutating func trickle(_ candidate: ICECandidate, to side: Int) {
        let stream = sides[side].streams[0]
        step(side) { agent, now, actions in
            agent.addRemoteCandidate(candidate, for: stream, at: now, actions: &actions)
        }
    }

    /// Media of each side reaches the other one.
    mutating func checkMedia(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for side in 0...1 {
            // Random enough not to be an earlier one.
            let payload: [UInt8] = [0x80, 111, UInt8(side)] + Array("\(now)".utf8)
            let isSent = sendMedia(payload, from: side)
            run(for: .milliseconds(200))
            #expect(isSent, sourceLocation: sourceLocation)
            #expect(sides[1 - side].media.contains(payload), sourceLocation: sourceLocation)
        }
    }
}

extension ICECandidate {
    static func host(_ address: String, _ port: UInt16, foundation: String = "1", component: UInt16 = 1) -> ICECandidate
    {
        ICECandidate(
            foundation: foundation, component: component,
            priority: priority(kind: .host, localPreference: 65_535, component: component),
            endpoint: Endpoint("\(address):\(port)"), kind: .host)
    }
}
