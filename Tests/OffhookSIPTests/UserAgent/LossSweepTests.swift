import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `A whole call over a lossy network` {
    /// Rings, answers after two seconds' worth of 180, and lets the caller hang up once the call stands.
    private func network(seed: UInt64 = 1, lateOffer: Bool = false) -> SignallingNetwork {
        var network = SignallingNetwork(
            seed: seed,
            reactions: [
                { userAgent, session, event, now, actions in
                    if case .offer(_, .inviteResponse, _) = event {
                        userAgent.answer(session, description: Array("answer 1".utf8), at: now, actions: &actions)
                    }
                    if case .info = event { userAgent.end(session, at: now, actions: &actions) }
                },
                { userAgent, session, event, now, actions in
                    switch event {
                    case .incoming(let invite):
                        userAgent.ring(session, at: now, actions: &actions)
                        let description = invite.offer == nil ? "offer 2" : "answer 2"
                        userAgent.accept(session, description: Array(description.utf8), at: now, actions: &actions)
                    case .acknowledged:
                        _ = userAgent.sendInfo(
                            session, body: MessageBody(contentType: "application/dtmf-relay", bytes: []), at: now,
                            actions: &actions)
                    default: break
                    }
                },
            ])
        network.call(offer: lateOffer ? nil : Array("offer 1".utf8))
        return network
    }

    @Test func `takes eight datagrams when none is lost`() {
        var network = network()

        network.run()

        #expect(
            network.log.map(\.line) == [
                "INVITE sip:bob@192.0.2.2 SIP/2.0", "SIP/2.0 180 Ringing", "SIP/2.0 200 OK",
                "ACK sip:offhook@192.0.2.2:5060 SIP/2.0", "INFO sip:offhook@192.0.2.1:5060 SIP/2.0", "SIP/2.0 200 OK",
                "BYE sip:offhook@192.0.2.2:5060 SIP/2.0", "SIP/2.0 200 OK",
            ])
        #expect(
            network.parties[0].events.map(\.name) == [
                "progress 180", "accepted", "answer answer 2 in inviteResponse", "info", "ended local",
            ])
        #expect(
            network.parties[1].events.map(\.name) == [
                "incoming", "acknowledged", "info finished 200", "ended remote",
            ])
        let areIdle = network.parties.allSatisfy { $0.userAgent.isIdle }
        #expect(areIdle)
    }

    @Test(arguments: 0..<16, [false, true])
    func `connects and ends cleanly whichever datagram is lost`(index: Int, lateOffer: Bool) {
        var network = network(lateOffer: lateOffer)
        network.lost = [index]

        network.run()

        for party in network.parties {
            let isIdle = party.userAgent.isIdle
            #expect(party.events.count { $0.isEnd } == 1)
            #expect(party.events.last?.isEnd == true)
            #expect(isIdle)
        }
        #expect(network.parties[0].events.contains { $0.name == "accepted" })
        #expect(network.parties[1].events.contains { $0.name == "acknowledged" })
        #expect(network.parties[0].events.last?.name == "ended local")
        #expect(network.parties[1].events.last?.name == "ended remote")
    }

    @Test(arguments: UInt64(1)...60)
    func `ends with nothing left on both sides at a third lost, out of order`(seed: UInt64) {
        var network = network(seed: seed, lateOffer: seed % 2 == 0)
        network.lossRate = 330
        network.jitter = 300

        network.run(for: .seconds(400))
        for index in network.parties.indices {
            if let session = network.parties[index].session {
                network.act(index) { $0.end(session, at: $1, actions: &$2) }
            }
        }
        network.run()

        for party in network.parties {
            let isIdle = party.userAgent.isIdle
            #expect(party.events.count { $0.isEnd } <= 1, "seed \(seed)")
            #expect(isIdle, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<2)
    func `ends in time when one side falls silent`(silent: Int) {
        var network = network()
        network.run(for: .milliseconds(30))
        network.lost = Set(network.datagramCount..<100_000)

        network.run()

        for party in network.parties {
            let isIdle = party.userAgent.isIdle
            #expect(party.events.last?.isEnd == true)
            #expect(isIdle)
        }
    }

    /// Reliable 183, 200, a re-INVITE of the caller, an UPDATE of the callee, BYE.
    private func longCall(seed: UInt64 = 1) -> SignallingNetwork {
        var configuration = UserAgentConfiguration()
        configuration.reliableProvisionals = .whenSupported
        var network = SignallingNetwork(
            caller: configuration, callee: configuration, seed: seed,
            reactions: [
                { userAgent, session, event, now, actions in
                    switch event {
                    case .accepted, .offerDue:
                        userAgent.reinvite(session, offer: Array("hold".utf8), at: now, actions: &actions)
                    case .offer(_, .update, _):
                        userAgent.answer(session, description: Array("ok".utf8), at: now, actions: &actions)
                    case .info: userAgent.end(session, at: now, actions: &actions)
                    default: break
                    }
                },
                { userAgent, session, event, now, actions in
                    switch event {
                    case .incoming:
                        userAgent.ring(
                            session, status: 183, description: Array("answer".utf8), at: now, actions: &actions)
                        userAgent.accept(session, description: nil, at: now, actions: &actions)
                    case .offer(_, .invite, _):
                        userAgent.answer(session, description: Array("held".utf8), at: now, actions: &actions)
                        userAgent.update(session, offer: Array("resume".utf8), at: now, actions: &actions)
                    case .offerDue:
                        userAgent.update(session, offer: Array("resume".utf8), at: now, actions: &actions)
                    case .answer(_, .updateResponse, _):
                        _ = userAgent.sendInfo(session, body: nil, at: now, actions: &actions)
                    default: break
                    }
                },
            ])
        network.call()
        return network
    }

    @Test(arguments: -1..<24)
    func `negotiates, holds, updates and ends whichever datagram is lost`(index: Int) {
        var network = longCall()
        network.lost = [index]

        network.run()

        let caller = network.parties[0].events.map(\.name)
        let callee = network.parties[1].events.map(\.name)
        #expect(caller.contains("answer held in inviteResponse"))
        #expect(callee.contains("answer ok in updateResponse"))
        #expect(caller.last == "ended local")
        #expect(callee.last == "ended remote")
        let areIdle = network.parties.allSatisfy { $0.userAgent.isIdle }
        #expect(areIdle)
    }

    @Test(arguments: UInt64(1)...20)
    func `both may offer at once and both get through (RFC 3261 §14.1)`(seed: UInt64) {
        let answering: SignallingNetwork.Reaction = { userAgent, session, event, now, actions in
            switch event {
            case .incoming: userAgent.accept(session, description: [1], at: now, actions: &actions)
            case .offer: userAgent.answer(session, description: [2], at: now, actions: &actions)
            case .offerDue: userAgent.reinvite(session, offer: [3], at: now, actions: &actions)
            default: break
            }
        }
        var network = SignallingNetwork(seed: seed, reactions: [answering, answering])
        network.call()
        network.run(for: .seconds(1))

        for index in 0..<2 {
            let session = network.parties[index].session ?? SessionID(number: 0)
            network.act(index) { $0.reinvite(session, offer: [3], at: $1, actions: &$2) }
        }
        network.run(for: .seconds(60))

        for party in network.parties {
            let names = party.events.map(\.name)
            #expect(names.contains("glare"))
            #expect(party.events.count { if case .offer(_, .invite, _) = $0 { true } else { false } } == 1)
            #expect(!party.events.contains { $0.isEnd })
        }
    }
}
