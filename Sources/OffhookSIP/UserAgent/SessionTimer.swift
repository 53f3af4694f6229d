internal import OffhookBasics

/// Notices when a session's far end has gone: one side refreshes, both hang up if no refresh comes through.
///
/// RFC 4028.
struct SessionTimer: Sendable {
    private struct Running: Sendable {
        let isRefresher: Bool
        let seconds: UInt32
        var refreshAt: Instant?
        let hangUpAt: Instant
    }

    private let configuration: SessionTimerConfiguration
    /// What we ask for: raised by a 422.
    private var wish: UInt32
    private var floor: UInt32
    private var raiseCount = 0
    private var running: Running?

    init(_ configuration: SessionTimerConfiguration) {
        self.configuration = configuration
        wish = configuration.interval
        floor = configuration.minimum
    }

    var isRunning: Bool { running != nil }
    var isRefresher: Bool { running?.isRefresher ?? false }

    var nextDeadline: Instant? {
        running.map { min($0.refreshAt ?? $0.hangUpAt, $0.hangUpAt) }
    }

    /// Puts our wish into an INVITE or UPDATE of ours; who refreshes stays as it is.
    func fill(_ headers: inout SIPHeaders) {
        guard configuration.isEnabled else { return }
        let refresher: SessionExpires.Refresher? = running.map { $0.isRefresher ? .uac : .uas }
        headers.sessionExpires = SessionExpires(seconds: max(running?.seconds ?? wish, floor), refresher: refresher)
        if floor > 90 { headers.minSE = floor }
    }

    /// Takes a 422 to our request; false if asking again makes no sense (RFC 4028 §7.3), as after a few times of more and more.
    mutating func raise(by response: SIPResponse) -> Bool {
        guard configuration.isEnabled, let least = response.headers.minSE, least > wish || least > floor,
            least <= 86_400, raiseCount < Self.raiseLimit
        else { return false }
        raiseCount += 1
        floor = max(floor, least)
        wish = max(wish, least)
        return true
    }

    /// Takes the 2xx to an INVITE or UPDATE of ours (RFC 4028 §7.2).
    mutating func restart(asClient response: SIPHeaders, at now: Instant) {
        guard configuration.isEnabled, let agreed = response.sessionExpires else {
            running = nil
            return
        }
        start(seconds: agreed.seconds, isRefresher: agreed.refresher != .uas, at: now)
    }

    /// Whether an INVITE or UPDATE asks for less than we endure: 422 (RFC 4028 §9).
    func isTooSmall(_ headers: SIPHeaders) -> UInt32? {
        guard configuration.isEnabled, let asked = headers.sessionExpires, asked.seconds < configuration.minimum
        else { return nil }
        return configuration.minimum
    }

    /// Takes an INVITE or UPDATE that is being accepted and writes the agreement into its 2xx (RFC 4028 §9).
    mutating func restart(asServerOf request: SIPHeaders, response: inout SIPHeaders, at now: Instant) {
        let peerKnowsTimer = request.supported.contains("timer") || request.sessionExpires != nil
        guard configuration.isEnabled, peerKnowsTimer else {
            running = nil
            return
        }
        let floor = max(configuration.minimum, request.minSE ?? 0)
        let seconds = max(min(request.sessionExpires?.seconds ?? wish, wish), floor)
        let refresher = request.sessionExpires?.refresher ?? (request.supported.contains("timer") ? .uac : .uas)
        response.sessionExpires = SessionExpires(seconds: seconds, refresher: refresher)
        if refresher == .uac { response.require = response.require.union(["timer"]) }
        start(seconds: seconds, isRefresher: refresher == .uas, at: now)
    }

    /// Each proxy on the way may want more than the one before.
    private static let raiseLimit = 5

    mutating func stop() {
        running = nil
    }

    enum Due: Sendable {
        case refresh
        case hangUp
    }

    mutating func handle(timeoutAt now: Instant) -> Due? {
        guard let timer = running else { return nil }
        if now >= timer.hangUpAt {
            running = nil
            return .hangUp
        }
        guard let refreshAt = timer.refreshAt, now >= refreshAt else { return nil }
        running?.refreshAt = nil
        return .refresh
    }

    /// No session may last less than 90 seconds (RFC 4028 §4). A far end that asks for less is told sooner that we are there, yet
    /// not without a pause, and gets that long itself.
    private mutating func start(seconds: UInt32, isRefresher: Bool, at now: Instant) {
        let asked = Duration.seconds(Int64(seconds))
        let interval = max(asked, .seconds(90))
        // Whoever does not refresh hangs up a little early; the refresher has until just before the end, so that its
        // own request can run into its timeout first (RFC 4028 §10).
        let margin = isRefresher ? min(.seconds(2), interval / 3) : min(.seconds(32), interval / 3)
        running = Running(
            isRefresher: isRefresher, seconds: seconds,
            refreshAt: isRefresher ? now + max(asked / 2, .seconds(5)) : nil, hangUpAt: now + (interval - margin))
    }
}
