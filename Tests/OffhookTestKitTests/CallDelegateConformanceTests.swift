import Dispatch
import Offhook
import OffhookTestKit
import Testing

@Suite struct `The order of news` {
    /// The names of the rules that were broken.
    private func broken(_ conformance: CallDelegateConformance) -> [String] {
        conformance.results.filter { !$0.isMet }.map(\.name)
    }

    /// A call that nothing was done with, and its service.
    private func idleCall(on network: SimulatedNetwork) throws -> (call: Call, service: CallService) {
        let client = try network.makeClient(named: "alice")
        let user = try client.createUser(UserConfiguration(address: "sip:alice@alice.test"))
        return (try user.callService.createCall(to: "sip:bob@bob.test"), user.callService)
    }

    @Test func `is kept by a call, and handed on`() async throws {
        let receptionist = Answering()
        let pair = try await SimulatedPair(answering: receptionist, isChecked: true)
        let caller = Answering()
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
        call.delegate = caller
        let callerConformance = CallDelegateConformance(callbackQueue: pair.callerQueue)
        callerConformance.watch(call)
        try await call.setVideoMode(.sendReceive)

        try await pair.network.run { try await call.start() }
        await pair.network.advance(by: .seconds(2))
        call.end()
        await pair.network.advance(by: .seconds(1))

        #expect(caller.news.contains("didEstablish"))
        #expect(caller.news.last == "didEnd ended(by: local)")
        #expect(receptionist.news.first == "didReceiveIncomingCall")
        #expect(receptionist.news.suffix(2) == ["didEnd ended(by: remote)", "didRemove"])
        let conformance = try #require(pair.conformance)
        for result in conformance.results + callerConformance.results { #expect(result.isMet, "\(result)") }
        await pair.network.shutdown()
    }

    @Test(arguments: [
        "incoming first", "established once", "established before video", "whole list", "told requests",
        "failure before end", "ends once", "end is last", "removed after end", "callback queue",
    ])
    func `that is broken is reported by its rule`(rule: String) async throws {
        let network = SimulatedNetwork(seed: 3)
        let (call, service) = try idleCall(on: network)
        let conformance = CallDelegateConformance(
            callbackQueue: rule == "callback queue" ? DispatchQueue(label: "elsewhere") : nil)
        let failure = CallEndReason.failed(CallError(.timedOut, "nothing came"))
        let channels = VideoChannelMaker.two

        switch rule {
        case "incoming first":
            conformance.callDidStart(call)
            conformance.callService(service, didReceiveIncomingCall: call)
        case "established once":
            conformance.callDidEstablish(call)
            conformance.callDidEstablish(call)
        case "established before video":
            conformance.call(call, didUpdateVideoChannels: [])
        case "whole list":
            conformance.callDidEstablish(call)
            conformance.call(call, didUpdateVideoChannels: channels)
            conformance.call(call, didUpdateVideoChannels: [channels[0]])
        case "told requests":
            conformance.callDidTimeoutVideoAddRequest(call)
        case "failure before end":
            conformance.callDidEnd(call, reason: failure)
        case "ends once":
            conformance.callDidEnd(call, reason: .busy)
            conformance.callDidEnd(call, reason: .busy)
        case "end is last":
            conformance.callDidEnd(call, reason: .busy)
            conformance.callDidHold(call)
        case "removed after end":
            conformance.callDidStart(call)
            conformance.callService(service, didRemove: call)
        default:
            conformance.callDidStart(call)
        }

        #expect(broken(conformance) == [rule])
        await network.shutdown()
    }

    @Test func `with early media allows video before the answer`() async throws {
        let network = SimulatedNetwork(seed: 4)
        let (call, _) = try idleCall(on: network)
        let conformance = CallDelegateConformance()

        conformance.callDidBeginRemoteAlerting(call, withEarlyMedia: true)
        conformance.call(call, didUpdateVideoChannels: [])

        #expect(broken(conformance).isEmpty)
        await network.shutdown()
    }
}

/// Video lines that belong to no call.
enum VideoChannelMaker {
    static let two = [VideoChannel(id: .next()), VideoChannel(id: .next())]
}
