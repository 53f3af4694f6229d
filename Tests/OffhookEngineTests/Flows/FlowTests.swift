import OffhookEngine
import Testing

@Suite struct `Example call flows of RFCs` {
    @Test(arguments: PlayedFlow.registrations) func `register as printed`(played: PlayedFlow) throws {
        try FlowPlayer(played).play(played)
    }

    @Test(arguments: PlayedFlow.calls) func `go as printed`(played: PlayedFlow) throws {
        try FlowPlayer(played).play(played)
    }

    @Test(arguments: PlayedFlow.changes) func `change as printed`(played: PlayedFlow) throws {
        try FlowPlayer(played).play(played)
    }

    @Test func `are all played, or have a reason`() throws {
        let played = Set((PlayedFlow.registrations + PlayedFlow.calls + PlayedFlow.changes).map(\.file))

        #expect(try Flow.all().subtracting(played).subtracting(PlayedFlow.without.keys).isEmpty)
        #expect(played.isDisjoint(with: PlayedFlow.without.keys))
    }
}
