import Offhook
import OffhookTestKit
import Testing

@Suite struct `A call whose nth message is lost` {
    /// A whole call with video, held and resumed, that loses one message; nil where there are fewer messages.
    private func lose(_ index: Int?) async throws -> (news: [String], results: [CallDelegateConformance.Result], Int) {
        let bob = Answering { call in
            try await call.setVideoMode(.receiveOnly)
            try await call.accept()
        }
        let pair = try await SimulatedPair(answering: bob, isChecked: true)
        pair.network.lose { $0.isSignaling && $0.index == index }
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
        try await call.setVideoMode(.sendOnly)
        try await pair.network.run {
            try await call.start()
            try await call.hold()
            try await call.unhold()
        }
        let isUp = call.state == .established
        call.end()
        await pair.network.advance(by: .seconds(40))
        let count = pair.network.signalingDatagramCount
        let results = pair.conformance?.results ?? []
        await pair.network.shutdown()
        #expect(isUp)
        #expect(call.status.endReason == .ended(by: .local))
        #expect(pair.caller.callService.calls.isEmpty && pair.callee.callService.calls.isEmpty)
        return (bob.news, results, count)
    }

    /// INVITE 180 200 ACK, twice INVITE 200 ACK, BYE 200; a 100 where an answer takes its time.
    @Test(arguments: 0..<14) func `is set up, held, resumed and ended`(index: Int) async throws {
        let (news, results, _) = try await lose(index)

        #expect(news.contains("didEstablish"))
        #expect(news.last == "didRemove")
        for result in results { #expect(result.isMet, "\(result)") }
    }

    @Test func `has no more messages than are lost above`() async throws {
        let (_, _, count) = try await lose(nil)

        #expect(count > 8 && count <= 14)
    }
}
