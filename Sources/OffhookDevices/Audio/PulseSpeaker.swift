internal import OffhookBasics
internal import OffhookCodecs
public import Dispatch
public import OffhookMedia

/// A speaker of the machine, by its sound server.
///
/// It is open from the first frame until two seconds after the last. The sound card's clock may be a little faster or
/// slower than that of the calls: the sound is resampled by as little. Where the device vanishes the default one takes
/// its place until it is back; where the sound server does, the delegate hears of it once and sound comes again when the
/// server does.
///
/// ```swift
/// let speaker = PulseSpeaker()
/// user.mediaServices.audioInterface.setSpeaker(speaker)
/// ```
///
/// Methods may be called on any thread.
public final class PulseSpeaker: AudioPlayer {
    private let pulse: PulseDevice<SpeakerEnd>

    /// Makes a speaker that is not open yet.
    ///
    /// - Parameters:
    ///   - device: an ``AudioDevice/id`` or a part of a device's name; nil follows the system's default.
    ///   - latency: how long sound may be under way until it is heard, from 20 to 500 ms; half of it is the program's
    ///     store against unsteadiness, half the server's. What comes of it is told by ``statistics``.
    ///   - server: the sound server.
    ///   - callbackQueue: where the delegate is called, one at a time even if the queue is concurrent.
    public init(
        device: String? = nil, latency: Duration = .milliseconds(60), server: SoundServer = .standard,
        callbackQueue: DispatchQueue = .main
    ) {
        let half = min(max(latency, .milliseconds(20)), .milliseconds(500)) / 2
        pulse = PulseDevice(
            SpeakerEnd(PulseWish(device: device, latency: half)), server: server, callbackQueue: callbackQueue)
        pulse.setOwner { [weak self] in self.map { .speaker($0) } }
    }

    /// Which device is wanted: an ``AudioDevice/id`` or a part of its name; nil follows the system's default. May be changed
    /// while sound flows.
    public var device: String? {
        get { pulse.device }
        set { pulse.device = newValue }
    }

    /// Hears of interruptions and changes of device. Kept weakly.
    public var delegate: (any SoundDeviceDelegate)? {
        get { pulse.delegate }
        set { pulse.delegate = newValue }
    }

    /// What the speaker has done so far.
    public var statistics: SoundStatistics { pulse.end.statistics }

    /// Plays the next samples, of any rate from 8000 on and any number of channels.
    public func handleAudioFrame(_ frame: AudioFrame) {
        if pulse.end.push(frame, at: MonotonicClock.now) { pulse.wishChanged() }
    }

    /// Gives a copy of what is played to one more; see ``AudioPlayer``.
    public func addPlayoutObserver(_ observer: any AudioSink) {
        pulse.end.observers.withLock { observers in
            if !observers.contains(where: { $0 === observer }) { observers.append(observer) }
        }
    }

    /// Gives it no more; see ``AudioPlayer``.
    public func removePlayoutObserver(_ observer: any AudioSink) {
        pulse.end.observers.withLock { $0.removeAll { $0 === observer } }
    }
}

/// What the connection knows of a speaker.
final class SpeakerEnd: PulseEnd {
    private struct State: @unchecked Sendable {
        // The resamplers are used with the lock around this value held only.
        var wish: PulseWish
        var buffer: PlayoutBuffer
        var resampler: Resampler?
        var lastFrame = Instant.zero
        var statistics = SoundStatistics()
    }

    private static let closeTime = Duration.seconds(2)

    let kind = AudioDevice.Kind.speaker
    let report = SoundReport()
    let observers = Lock<[any AudioSink]>([])
    private let state: Lock<State>

    init(_ wish: PulseWish) {
        // The store swings by a frame: half of one is added to what is wanted on the average.
        let samples = Int(wish.latency.inSeconds * Double(PulseStream.sampleRate)) + 480
        state = Lock(State(wish: wish, buffer: PlayoutBuffer(target: samples)))
    }

    var wish: PulseWish {
        state.withLock { state in
            if state.wish.isOpen, MonotonicClock.now - state.lastFrame > Self.closeTime {
                state.wish.isOpen = false
                state.buffer.empty()
            }
            return state.wish
        }
    }

    var statistics: SoundStatistics { state.withLock { $0.statistics } }

    func change(_ body: (inout PulseWish) -> Void) {
        state.withLock { body(&$0.wish) }
    }

    /// Takes a frame; returns whether the speaker has to be opened for it.
    func push(_ frame: AudioFrame, at now: Instant) -> Bool {
        guard frame.sampleRate >= 8000, frame.channelCount > 0 else { return false }
        return state.withLock { state in
            let samples = mixed(frame.samples, from: frame.channelCount, to: 1)
            if state.resampler?.inputRate != frame.sampleRate {
                state.resampler = try? Resampler(from: frame.sampleRate, to: PulseStream.sampleRate)
            }
            state.buffer.push(state.resampler?.resample(samples) ?? samples)
            state.statistics.frames += 1
            state.lastFrame = now
            defer { state.wish.isOpen = true }
            return !state.wish.isOpen
        }
    }

    func take(_ samples: UnsafeBufferPointer<Int16>, recordedAt time: Instant, now: Instant) {}

    func fill(_ samples: UnsafeMutableBufferPointer<Int16>, heardAt time: Instant?, now: Instant) {
        state.withLock { state in
            let stored = Duration.nanoseconds(Int64(state.buffer.count) * 1_000_000_000 / Int64(PulseStream.sampleRate))
            state.buffer.pull(into: samples)
            if let time { state.statistics.latency = time - now + stored }
            state.statistics.driftPPM = state.buffer.driftPPM
            state.statistics.gaps = state.buffer.gaps
        }
        let observers = observers.withLock { $0 }
        guard let time, !observers.isEmpty else { return }
        let frame = AudioFrame(samples: Array(samples), sampleRate: PulseStream.sampleRate, captureTime: time)
        for observer in observers { observer.handleAudioFrame(frame) }
    }

    func handle(_ event: PulseEvent) {
        state.withLock { $0.statistics.note(event) }
        report.tell(event)
    }
}
