internal import Dispatch
internal import OffhookBasics
internal import OffhookDevices

/// Plays what a telephone lets one hear by itself: ringing, ringback, busy, and the tones of sent keys.
final class CallTones: Sendable {
    enum Event {
        case arrival
        case news(CallNews)
    }

    /// What may play.
    enum Sound: Hashable, Sendable {
        case tone(CallTone.Kind)
        case keys([Character])
    }

    private struct State {
        var plan: TonePlan?
        /// Calls that ring here or at the far end, oldest first.
        var ringing: [(call: Call.ID, kind: CallTone.Kind)] = []
        var talking: Set<Call.ID> = []
        /// Which tone plays; a later one takes its place.
        var number = 0
        var playing: Sound?
    }

    private let routes: AudioRoutes
    private let state = Lock(State())

    init(routes: AudioRoutes) {
        self.routes = routes
    }

    var plan: TonePlan? {
        get { state.withLock { $0.plan } }
        set {
            state.withLock { state in
                state.plan = newValue
                if newValue == nil { state.ringing = [] }
            }
            if newValue == nil { stop() }
        }
    }

    /// The keys' tones, one after another, once.
    func play(_ keys: [DTMFTone]) {
        guard let plan, !keys.isEmpty else { return }
        start(.keys(keys.map(\.key)), plan)
    }

    /// Begins or ends a tone as a call goes on.
    func follow(_ event: Event, of call: Call) {
        guard let plan = state.withLock({ $0.plan }) else { return }
        switch event {
        case .arrival: ring(.ringing, call, plan)
        case .news(.didBeginRemoteAlerting(hasEarlyMedia: false)): ring(.ringback, call, plan)
        // The far end's own tone, or somebody's voice, comes from there.
        case .news(.didBeginRemoteAlerting), .news(.didIgnore), .news(.didDeny): silence(call, plan)
        case .news(.didEstablish):
            _ = state.withLock { $0.talking.insert(call.id) }
            silence(call, plan)
        case .news(.didFail): silence(call, plan)
        case .news(.didEnd(let reason)):
            _ = state.withLock { $0.talking.remove(call.id) }
            silence(call, plan)
            if call.direction == .outgoing, let kind = reason.tone { start(.tone(kind), plan) }
        default: break
        }
    }

    private func ring(_ kind: CallTone.Kind, _ call: Call, _ plan: TonePlan) {
        let isFirst = state.withLock { state in
            guard !state.ringing.contains(where: { $0.call == call.id }) else { return false }
            state.ringing.append((call.id, kind))
            // Nobody who talks is rung at.
            return state.ringing.count == 1 && state.talking.isEmpty
        }
        if isFirst { start(.tone(kind), plan) }
    }

    private func silence(_ call: Call, _ plan: TonePlan) {
        let (wasRinging, next) = state.withLock { state -> (Bool, CallTone.Kind?) in
            guard let index = state.ringing.firstIndex(where: { $0.call == call.id }) else { return (false, nil) }
            state.ringing.remove(at: index)
            return (true, state.talking.isEmpty ? state.ringing.first?.kind : nil)
        }
        guard wasRinging else { return }
        if let next { start(.tone(next), plan) } else { stop() }
    }

    private func start(_ sound: Sound, _ plan: TonePlan) {
        let tone =
            switch sound {
            case .tone(let kind): CallTone(kind, plan: plan)
            case .keys(let keys): CallTone(keys, plan: plan)
            }
        let number = state.withLock { state in
            state.number += 1
            state.playing = sound
            return state.number
        }
        tone.onEnd { [weak self] in
            // Not on the thread that the tone's sound comes on: it may be waited for there.
            DispatchQueue.global().async { [weak self] in self?.end(number) }
        }
        routes.setTone(tone)
    }

    private func end(_ number: Int) {
        if state.withLock({ $0.number == number }) { stop() }
    }

    private func stop() {
        state.withLock { state in
            state.number += 1
            state.playing = nil
        }
        routes.setTone(nil)
    }

    /// What plays now.
    var playing: Sound? { state.withLock { $0.playing } }
}

extension CallEndReason {
    /// What a caller hears who was not put through.
    fileprivate var tone: CallTone.Kind? {
        switch cause {
        case .busy, .declined: .busy
        case .noAnswer, .signalingLost, .failed: .congestion
        default: nil
        }
    }
}
