@testable import Offhook
import OffhookBasics
import Testing

@Suite struct `Accepted connections` {
    private let start = Instant.zero

    @Test func `one that brings no whole message within 32 seconds is closed`() {
        var connections = AcceptedConnections()
        connections.opened(1, at: start)

        #expect(connections.nextDeadline == start + .seconds(32))
        #expect(connections.takeOverdue(at: start + .seconds(31)) { _ in false }.isEmpty)
        #expect(connections.takeOverdue(at: start + .seconds(32)) { _ in false } == [1])
        #expect(connections.count == 0)
        #expect(connections.nextDeadline == nil)
    }

    @Test func `one that falls silent is closed five minutes after its last message`() {
        var connections = AcceptedConnections()
        connections.opened(1, at: start)
        connections.receivedMessage(on: 1, at: start + .seconds(10))
        connections.receivedMessage(on: 1, at: start + .seconds(20))

        #expect(connections.takeOverdue(at: start + .seconds(319)) { _ in false }.isEmpty)
        #expect(connections.takeOverdue(at: start + .seconds(320)) { _ in false } == [1])
    }

    @Test func `one that a call needs stays for as long as it does`() {
        var connections = AcceptedConnections()
        connections.opened(1, at: start)
        connections.receivedMessage(on: 1, at: start)

        #expect(connections.takeOverdue(at: start + .seconds(300)) { $0 == 1 }.isEmpty)
        #expect(connections.nextDeadline == start + .seconds(600))
        #expect(connections.takeOverdue(at: start + .seconds(600)) { _ in false } == [1])
    }

    @Test func `those that we opened, or that are closed, are no matter`() {
        var connections = AcceptedConnections()
        connections.receivedMessage(on: 7, at: start)
        connections.opened(1, at: start)
        connections.closed(1)

        #expect(connections.count == 0)
        #expect(connections.takeOverdue(at: start + .seconds(1000)) { _ in false }.isEmpty)
    }

    @Test func `the one that is silent longest and has no call makes room for one more than there may be`() {
        var connections = AcceptedConnections()
        for id in 1...UInt64(AcceptedConnections.limit) {
            #expect(!connections.isFull)
            connections.opened(id, at: start + .milliseconds(Int64(id)))
        }
        connections.receivedMessage(on: 1, at: start + .seconds(2))

        #expect(connections.isFull)
        #expect(connections.takeIdlest { $0 == 2 } == 3)
        #expect(!connections.isFull)
        #expect(connections.takeIdlest { _ in true } == nil)
    }
}
