internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookDevices
internal import OffhookMedia

/// Which microphone feeds which calls, and which calls are heard on which speaker.
final class AudioRoutes: Sendable {
    /// What is heard on the speaker that all calls share.
    fileprivate enum Source: Hashable, Sendable {
        case call(Call.ID)
        case tone
    }

    fileprivate struct State {
        /// The nil call is the one for all calls that have none of their own.
        var microphones: [Call.ID?: any AudioCapturer] = [:]
        var announcements: [Call.ID: any AudioCapturer] = [:]
        var speakers: [Call.ID?: any AudioSink] = [:]
        /// What is played here in place of the calls.
        var localSound: (any AudioCapturer)?
        /// What is played here beside the calls.
        var tone: (any AudioCapturer)?
        var processing = (echo: AudioProcessing.automatic, noise: AudioProcessing.automatic, gain: AudioProcessing.off)
        /// What was played lately on each speaker that can tell.
        var histories: [ObjectIdentifier: PlayoutHistory] = [:]
        var uplinks: [Call.ID: any AudioSink] = [:]
        var mixers: [ObjectIdentifier: AudioMixer<Source>] = [:]
        var bridge = AudioBridge()
        var isMuted = false
        var microphoneGain = 1.0
        var speakerGain = 1.0
        var microphoneLevel = AudioLevel.silence
        var speakerLevel = AudioLevel.silence

        func microphone(for call: Call.ID) -> (any AudioCapturer)? {
            announcements[call] ?? microphones[call] ?? microphones[nil]
        }

        func speaker(for call: Call.ID) -> (any AudioSink)? {
            speakers[call] ?? speakers[nil]
        }

        var capturersInUse: [ObjectIdentifier: any AudioCapturer] {
            var capturers = uplinks.keys.compactMap { microphone(for: $0) }
            if let localSound { capturers.append(localSound) }
            if let tone { capturers.append(tone) }
            return Dictionary(capturers.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private let state = Lock(State())
    /// Held while capturers are told their sinks, so that two threads cannot tell them in the wrong order. No frame needs
    /// this lock, so a capturer may wait for the one that is on its way.
    private let switching = Lock(())

    func setMicrophone(_ capturer: (any AudioCapturer)?, for call: Call.ID?) {
        change { $0.microphones[call] = capturer }
    }

    func setSpeaker(_ sink: (any AudioSink)?, for call: Call.ID?) {
        change { state in
            state.speakers[call] = sink
            state.mixers = [:]
        }
    }

    func play(_ sound: (any AudioCapturer)?, to destination: AudioInterface.PlayDestination) {
        change { state in
            switch destination {
            case .speaker: state.localSound = sound
            case .remote(let call): state.announcements[call.id] = sound
            }
        }
    }

    /// Plays a tone here, beside what else is heard; with nil it stops.
    func setTone(_ tone: (any AudioCapturer)?) {
        change { state in
            state.tone = tone
            state.mixers = [:]
        }
    }

    func attach(_ uplink: any AudioSink, for call: Call.ID) {
        change { $0.uplinks[call] = uplink }
    }

    func detach(_ call: Call.ID) {
        change { state in
            state.uplinks[call] = nil
            state.microphones[call] = nil
            state.announcements[call] = nil
            state.speakers[call] = nil
            state.mixers = [:]
            state.bridge.leave(call)
        }
    }

    /// From now on the far ends of both calls hear each other beside us.
    func join(_ first: Call.ID, _ second: Call.ID) {
        state.withLock { $0.bridge.join(first, second) }
    }

    var microphone: (any AudioCapturer)? { state.withLock { $0.microphones[nil] ?? nil } }
    var speaker: (any AudioSink)? { state.withLock { $0.speakers[nil] ?? nil } }

    var isMicrophoneMuted: Bool {
        get { state.withLock { $0.isMuted } }
        set { state.withLock { $0.isMuted = newValue } }
    }

    var microphoneGain: Double {
        get { state.withLock { $0.microphoneGain } }
        set { state.withLock { $0.microphoneGain = min(max(newValue, 0), 8) } }
    }

    var speakerGain: Double {
        get { state.withLock { $0.speakerGain } }
        set { state.withLock { $0.speakerGain = min(max(newValue, 0), 8) } }
    }

    var microphoneLevel: Double { state.withLock { $0.microphoneLevel } }
    var speakerLevel: Double { state.withLock { $0.speakerLevel } }

    /// Changes the routes, then opens the capturers that are newly needed and closes those no longer needed.
    private func change(_ body: (inout State) -> Void) {
        switching.withLock { _ in
            var changes: [PlayoutChange] = []
            let (closing, opening) = state.withLock { state in
                let earlier = state.capturersInUse
                let players = state.players
                body(&state)
                changes = state.follow(players)
                let now = state.capturersInUse
                let closing = earlier.filter { now[$0.key] == nil }.map(\.value)
                var opening: [(any AudioCapturer, MicrophoneTap)] = []
                for (identifier, capturer) in now where earlier[identifier] == nil {
                    opening.append((capturer, MicrophoneTap(routes: self, capturer: capturer)))
                }
                return (closing, opening)
            }
            for change in changes { change.carryOut() }
            for capturer in closing { capturer.setAudioSink(nil) }
            for (capturer, tap) in opening { capturer.setAudioSink(tap) }
        }
    }

    /// Takes a capturer's sound to those who want it.
    func handleCapturedFrame(_ frame: AudioFrame, from capturer: ObjectIdentifier) {
        let (uplinks, gain, local) = state.withLock { state in
            let calls = state.uplinks.filter { call, _ in
                state.microphone(for: call).map(ObjectIdentifier.init) == capturer
            }
            let local = state.playHere(frame, from: capturer)
            if !local.isMine { state.microphoneLevel = AudioLevel.level(of: frame) }
            return (Array(calls), state.isMuted ? 0 : state.microphoneGain, local)
        }
        if !uplinks.isEmpty {
            let amplified = frame.amplified(by: gain)
            for (call, uplink) in uplinks {
                guard let due = state.withLock({ $0.bridge.mixMicrophone(amplified, to: call) }) else { continue }
                uplink.handleAudioFrame(due)
            }
        }
        if let (speaker, due) = local.due { speaker.handleAudioFrame(due) }
    }

    /// Takes a call's received sound to its speaker, mixed with that of the other calls heard there.
    func handleReceivedFrame(_ frame: AudioFrame, of call: Call.ID) {
        bringToPartners(frame, of: call)
        let due = state.withLock { state -> (any AudioSink, AudioFrame)? in
            state.speakerLevel = AudioLevel.level(of: frame)
            guard let speaker = state.speaker(for: call) else { return nil }
            if state.localSound != nil, state.speakers[call] == nil { return nil }
            let amplified = frame.amplified(by: state.speakerGain)
            guard
                let mixed = state.mixers[ObjectIdentifier(speaker), default: AudioMixer()].mix(
                    amplified, of: .call(call))
            else {
                return nil
            }
            return (speaker, mixed)
        }
        guard let (speaker, mixed) = due else { return }
        speaker.handleAudioFrame(mixed)
    }
}

extension AudioRoutes {
    /// Takes a joined call's received sound to the far ends of those that it is joined with.
    private func bringToPartners(_ frame: AudioFrame, of call: Call.ID) {
        let due = state.withLock { state in
            state.bridge.partners(of: call).compactMap { partner -> (any AudioSink, AudioFrame)? in
                guard let mixed = state.bridge.mix(frame, of: call, to: partner), let uplink = state.uplinks[partner]
                else { return nil }
                return (uplink, mixed)
            }
        }
        for (uplink, mixed) in due { uplink.handleAudioFrame(mixed) }
    }
}

// MARK: Sounds played here

extension AudioRoutes.State {
    /// Whether a capturer's frame is for this end, and what is due to the speaker with it.
    fileprivate mutating func playHere(
        _ frame: AudioFrame, from capturer: ObjectIdentifier
    ) -> (isMine: Bool, due: (any AudioSink, AudioFrame)?) {
        let isSound = localSound.map(ObjectIdentifier.init) == capturer
        let isTone = tone.map(ObjectIdentifier.init) == capturer
        guard isSound || isTone else { return (false, nil) }
        guard let speaker = speakers[nil] else { return (true, nil) }
        let amplified = frame.amplified(by: speakerGain)
        if isSound { return (true, (speaker, amplified)) }
        guard localSound == nil,
            let mixed = mixers[ObjectIdentifier(speaker), default: AudioMixer()].mix(amplified, of: .tone)
        else { return (true, nil) }
        return (true, (speaker, mixed))
    }
}

// MARK: Echoes

/// A speaker that is to tell, or no more, what it plays.
private struct PlayoutChange {
    var player: any AudioPlayer
    var history: PlayoutHistory
    var isWanted: Bool

    func carryOut() {
        if isWanted { player.addPlayoutObserver(history) } else { player.removePlayoutObserver(history) }
    }
}

extension AudioRoutes.State {
    /// The speakers that can tell what they play.
    fileprivate var players: [ObjectIdentifier: any AudioPlayer] {
        let players = speakers.values.compactMap { $0 as? any AudioPlayer }
        return Dictionary(players.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Has a history for each speaker there is now, and none for those of before.
    fileprivate mutating func follow(_ former: [ObjectIdentifier: any AudioPlayer]) -> [PlayoutChange] {
        let players = players
        var changes: [PlayoutChange] = []
        for (identifier, player) in former where players[identifier] == nil {
            guard let history = histories.removeValue(forKey: identifier) else { continue }
            changes.append(PlayoutChange(player: player, history: history, isWanted: false))
        }
        for (identifier, player) in players where histories[identifier] == nil {
            let history = PlayoutHistory()
            histories[identifier] = history
            changes.append(PlayoutChange(player: player, history: history, isWanted: true))
        }
        return changes
    }
}

extension AudioRoutes {
    var echoCancellation: AudioProcessing {
        get { state.withLock { $0.processing.echo } }
        set { state.withLock { $0.processing.echo = newValue } }
    }

    var noiseSuppression: AudioProcessing {
        get { state.withLock { $0.processing.noise } }
        set { state.withLock { $0.processing.noise = newValue } }
    }

    var gainControl: AudioProcessing {
        get { state.withLock { $0.processing.gain } }
        set { state.withLock { $0.processing.gain = newValue } }
    }

    var playoutHistories: [PlayoutHistory] { state.withLock { Array($0.histories.values) } }

    /// What is to be done to a capturer's sound: nothing, where it is no microphone of a call.
    func processing(of capturer: any AudioCapturer) -> VoiceProcessing {
        let isInRoom = (capturer as? PulseMicrophone).map { !$0.hearsSpeaker } ?? false
        return state.withLock { state in
            guard state.microphones.values.contains(where: { $0 === capturer }) else { return VoiceProcessing() }
            return VoiceProcessing(
                cancelsEcho: state.processing.echo.isOn(inRoom: isInRoom),
                suppressesNoise: state.processing.noise.isOn(inRoom: isInRoom),
                controlsGain: state.processing.gain.isOn(inRoom: isInRoom))
        }
    }
}
