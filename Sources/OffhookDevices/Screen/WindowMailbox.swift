internal import OffhookBasics
internal import OffhookMedia

/// What passes between a renderer, on any thread, and its window, on the window thread: of each picture the newest.
final class WindowMailbox: Sendable {
    /// Whose picture it is.
    enum Part: Hashable, Sendable {
        case remote
        case selfView
    }

    /// What happens in a window.
    enum News: Sendable {
        case closed
        case typed(Character)
        case fullScreen(Bool)
        case size(VideoSize)
    }

    /// The newest picture of one part.
    struct Picture: Sendable {
        var frame: VideoFrame?
        /// Goes up with each change, so that a picture is drawn once.
        var serial = 0
        var arrival = Instant.zero
    }

    private struct State {
        var remote = Picture()
        var selfView = Picture()
        var isOpen = true
        var shownCount = 0
        var replacedCount = 0
        /// The far end's pictures, up to which they were shown.
        var shownSerial = 0
    }

    private let state = Lock(State())
    private let reporter = Lock<@Sendable (News) -> Void>({ _ in })

    func setReporter(_ report: @escaping @Sendable (News) -> Void) {
        reporter.withLock { $0 = report }
    }

    func report(_ news: News) {
        reporter.withLock { $0 }(news)
    }

    /// Leaves a picture for the window, or nil for none; false where there is no window any more.
    func put(_ frame: VideoFrame?, as part: Part, at now: Instant) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            switch part {
            case .remote:
                if state.remote.frame != nil, state.remote.serial > state.shownSerial { state.replacedCount += 1 }
                state.remote = Picture(frame: frame, serial: state.remote.serial + 1, arrival: now)
            case .selfView:
                state.selfView = Picture(frame: frame, serial: state.selfView.serial + 1, arrival: now)
            }
            return true
        }
    }

    var pictures: (remote: Picture, selfView: Picture) {
        state.withLock { ($0.remote, $0.selfView) }
    }

    /// The far end's picture of this number is on the screen.
    func noteShown(_ serial: Int) {
        state.withLock { state in
            guard serial > state.shownSerial else { return }
            state.shownSerial = serial
            if state.remote.frame != nil { state.shownCount += 1 }
        }
    }

    var counts: (shown: Int, replaced: Int) {
        state.withLock { ($0.shownCount, $0.replacedCount) }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// No picture is taken any more, and those that are here are let go; false where that was so before.
    func close() -> Bool {
        let old = state.withLock { state -> (Picture, Picture)? in
            guard state.isOpen else { return nil }
            state.isOpen = false
            defer { (state.remote.frame, state.selfView.frame) = (nil, nil) }
            return (state.remote, state.selfView)
        }
        return old != nil
    }
}
