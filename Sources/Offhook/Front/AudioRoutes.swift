internal import OffhookBasics
internal import OffhookMedia

/// Which microphone feeds which calls, and which calls are heard on which speaker.
final class AudioRoutes: Sendable {
    private struct State {
        /// The nil call is the one for all calls that have none of their own.
        var microphones: [Call.ID?: any AudioCapturer] = [:]
        var announcements: [Call.ID: any AudioCapturer] = [:]
        var speakers: [Call.ID?: any AudioSink] = [:]
        /// What is played here in place of the calls.
        var localSound: (any AudioCapturer)?
        var uplinks: [Call.ID: any AudioSink] = [:]
        var mixers: [ObjectIdentifier: AudioMixer<Call.ID>] = [:]
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
            let (closing, opening) = state.withLock { state in
                let earlier = state.capturersInUse
                body(&state)
                let now = state.capturersInUse
                let closing = earlier.filter { now[$0.key] == nil }.map(\.value)
                var opening: [(any AudioCapturer, MicrophoneTap)] = []
                for (identifier, capturer) in now where earlier[identifier] == nil {
                    opening.append((capturer, MicrophoneTap(routes: self, capturer: identifier)))
                }
                return (closing, opening)
            }
            for capturer in closing { capturer.setAudioSink(nil) }
            for (capturer, tap) in opening { capturer.setAudioSink(tap) }
        }
    }

    /// Takes a capturer's sound to those who want it.
    fileprivate func handleCapturedFrame(_ frame: AudioFrame, from capturer: ObjectIdentifier) {
        let (uplinks, gain, speaker, speakerGain) = state.withLock { state in
            let calls = state.uplinks.filter { call, _ in
                state.microphone(for: call).map(ObjectIdentifier.init) == capturer
            }
            let isLocal = state.localSound.map(ObjectIdentifier.init) == capturer
            if !isLocal { state.microphoneLevel = AudioLevel.level(of: frame) }
            return (
                Array(calls), state.isMuted ? 0 : state.microphoneGain, isLocal ? state.speakers[nil] : nil,
                state.speakerGain
            )
        }
        if !uplinks.isEmpty {
            let amplified = frame.amplified(by: gain)
            for (call, uplink) in uplinks {
                guard let due = state.withLock({ $0.bridge.mixMicrophone(amplified, to: call) }) else { continue }
                uplink.handleAudioFrame(due)
            }
        }
        speaker?.handleAudioFrame(frame.amplified(by: speakerGain))
    }

    /// Takes a call's received sound to its speaker, mixed with that of the other calls heard there.
    func handleReceivedFrame(_ frame: AudioFrame, of call: Call.ID) {
        bringToPartners(frame, of: call)
        let due = state.withLock { state -> (any AudioSink, AudioFrame)? in
            state.speakerLevel = AudioLevel.level(of: frame)
            guard let speaker = state.speaker(for: call) else { return nil }
            if state.localSound != nil, state.speakers[call] == nil { return nil }
            let amplified = frame.amplified(by: state.speakerGain)
            guard let mixed = state.mixers[ObjectIdentifier(speaker), default: AudioMixer()].mix(amplified, of: call)
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

/// The sink that the routes give to a capturer.
private final class MicrophoneTap: AudioSink {
    private let routes: AudioRoutes
    private let capturer: ObjectIdentifier

    init(routes: AudioRoutes, capturer: ObjectIdentifier) {
        self.routes = routes
        self.capturer = capturer
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        routes.handleCapturedFrame(frame, from: capturer)
    }
}

/// Adds up the sound of several calls, or other sources.
///
/// The first one that is heard sets the pace; the others' frames wait for its next one, the newest three of each.
struct AudioMixer<Source: Hashable & Sendable>: Sendable {
    private var leader: Source?
    private var waiting: [Source: [AudioFrame]] = [:]
    /// Frames of others since the leader's last.
    private var framesSinceLeader = 0

    /// The sum that is due with this frame; nil where it waits.
    mutating func mix(_ frame: AudioFrame, of call: Source) -> AudioFrame? {
        if leader == nil || framesSinceLeader > 8 { leader = call }
        guard call == leader else {
            framesSinceLeader += 1
            var frames = waiting[call, default: []]
            frames.append(frame)
            waiting[call] = frames.suffix(3)
            return nil
        }
        framesSinceLeader = 0
        waiting[call] = nil
        var sum = frame
        for other in waiting.keys {
            guard let next = waiting[other]?.first else { continue }
            waiting[other]?.removeFirst()
            guard next.sampleRate == sum.sampleRate, next.samples.count == sum.samples.count else { continue }
            for index in sum.samples.indices {
                sum.samples[index] = Int16(clamping: Int32(sum.samples[index]) + Int32(next.samples[index]))
            }
        }
        return sum
    }
}
