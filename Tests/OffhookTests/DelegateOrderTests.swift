@testable import Offhook
import Testing

@Suite struct `Delegate order` {
    private let channels = [VideoChannel(id: .next(), requestedDirection: .sendReceive)]

    @Test func `video lines wait for the call to be up`() {
        var order = DelegateOrder()

        #expect(order.admit(.didUpdateVideoChannels([])).isEmpty)
        #expect(order.admit(.didUpdateVideoChannels(channels)).isEmpty)

        #expect(order.admit(.didEstablish) == [.didEstablish, .didUpdateVideoChannels(channels)])
        #expect(order.admit(.didUpdateVideoChannels([])) == [.didUpdateVideoChannels([])])
    }

    @Test func `early media lets video lines through before the call is up`() {
        var order = DelegateOrder()
        let alerting = CallNews.didBeginRemoteAlerting(hasEarlyMedia: true)

        #expect(order.admit(.didUpdateVideoChannels(channels)).isEmpty)

        #expect(order.admit(alerting) == [alerting, .didUpdateVideoChannels(channels)])
        #expect(order.admit(.didEstablish) == [.didEstablish])
    }

    @Test func `ringing without early media does not`() {
        var order = DelegateOrder()

        #expect(order.admit(.didBeginRemoteAlerting(hasEarlyMedia: false)).count == 1)

        #expect(order.admit(.didUpdateVideoChannels(channels)).isEmpty)
    }

    @Test func `the end comes once and last`() {
        var order = DelegateOrder()

        #expect(order.admit(.didEnd(.busy)) == [.didEnd(.busy)])

        #expect(order.admit(.didEnd(.busy)).isEmpty)
        #expect(order.admit(.didEstablish).isEmpty)
        #expect(order.admit(.didFail(CallError(.busy, "late"))).isEmpty)
        #expect(order.isOver)
    }

    @Test func `an end by failure is preceded by the failure, once`() {
        let error = CallError(.noCommonCodec, "the peer offered G.729 alone")
        var silent = DelegateOrder()
        var told = DelegateOrder()

        #expect(silent.admit(.didEnd(.failed(error))) == [.didFail(error), .didEnd(.failed(error))])
        #expect(told.admit(.didFail(error)) == [.didFail(error)])
        #expect(told.admit(.didEnd(.failed(error))) == [.didEnd(.failed(error))])
    }
}
