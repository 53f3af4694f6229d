/// Holds the news of one call to the order that apps rely on.
///
/// News of video before the call is up waits for it, unless there is early media; an end by failure is preceded by the
/// failure; and after the end there is no more news.
struct DelegateOrder: Sendable {
    private enum Phase: Sendable {
        /// Not up. The newest list of video lines waits here.
        case before(channels: [VideoChannel]?)
        /// Sound or pictures can be had before the answer.
        case early
        case established
        case ended
    }

    private var phase = Phase.before(channels: nil)
    private var hasFailed = false

    /// What to tell now, in order, given the next piece of news.
    mutating func admit(_ news: CallNews) -> [CallNews] {
        if case .ended = phase { return [] }
        switch news {
        case .didBeginRemoteAlerting(hasEarlyMedia: true):
            let waiting = waitingChannels
            if case .before = phase { phase = .early }
            return [news] + waiting
        case .didEstablish:
            let waiting = waitingChannels
            phase = .established
            return [news] + waiting
        case .didUpdateVideoChannels(let channels):
            guard case .before = phase else { return [news] }
            phase = .before(channels: channels)
            return []
        case .didFail:
            hasFailed = true
            return [news]
        case .didEnd(let reason):
            phase = .ended
            guard let error = reason.error, !hasFailed else { return [news] }
            return [.didFail(error), news]
        default:
            return [news]
        }
    }

    /// Whether the end has been told.
    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    private var waitingChannels: [CallNews] {
        guard case .before(let channels?) = phase else { return [] }
        return [.didUpdateVideoChannels(channels)]
    }
}
