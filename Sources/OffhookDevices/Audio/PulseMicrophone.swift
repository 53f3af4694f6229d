public import Dispatch
internal import OffhookBasics
public import OffhookMedia

/// A microphone of the machine, by its sound server: 48 kHz, mono, 20 ms at a time.
///
/// It is open while it has a sink. Frames keep the pace of the machine's clock, whatever that of the sound card is, and
/// bear the time at which they were recorded. Where the device vanishes the default one takes its place until it is
/// back; where the sound server does, the delegate hears of it once and sound comes again when the server does.
///
/// ```swift
/// let microphone = PulseMicrophone()
/// user.mediaServices.audioInterface.setMicrophone(microphone)
/// ```
///
/// Methods may be called on any thread; the sink is called on the sound server's thread.
public final class PulseMicrophone: AudioCapturer {
    private let pulse: PulseDevice<MicrophoneEnd>

    /// Makes a microphone that is not open yet.
    ///
    /// - Parameters:
    ///   - device: an ``AudioDevice/id`` or a part of a device's name; nil follows the system's default.
    ///   - latency: how old sound may be when it is delivered, from 5 to 500 ms. What the server makes of it is told by
    ///     ``statistics``.
    ///   - server: the sound server.
    ///   - callbackQueue: where the delegate is called, one at a time even if the queue is concurrent.
    public init(
        device: String? = nil, latency: Duration = .milliseconds(20), server: SoundServer = .standard,
        callbackQueue: DispatchQueue = .main
    ) {
        let wish = PulseWish(device: device, latency: min(max(latency, .milliseconds(5)), .milliseconds(500)))
        pulse = PulseDevice(MicrophoneEnd(wish), server: server, callbackQueue: callbackQueue)
        pulse.setOwner { [weak self] in self.map { .microphone($0) } }
    }

    /// Which device is wanted: an ``AudioDevice/id`` or a part of its name; nil follows the system's default. May be
    /// changed while sound flows.
    public var device: String? {
        get { pulse.device }
        set { pulse.device = newValue }
    }

    /// Hears of interruptions and changes of device. Kept weakly.
    public var delegate: (any SoundDeviceDelegate)? {
        get { pulse.delegate }
        set { pulse.delegate = newValue }
    }

    /// What the microphone has done so far.
    public var statistics: SoundStatistics { pulse.end.statistics }

    /// Whether the device in use is no microphone, but hears what a speaker plays.
    package var hearsSpeaker: Bool { pulse.deviceInUse?.isMonitor == true }

    /// Chooses where the sound goes; see ``AudioCapturer``.
    public func setAudioSink(_ sink: (any AudioSink)?) {
        pulse.end.setSink(sink)
        pulse.wishChanged()
    }
}

/// What the connection knows of a microphone.
final class MicrophoneEnd: PulseEnd {
    private struct State: @unchecked Sendable {
        // The clock's resampler is used with the lock around this value held only.
        var wish: PulseWish
        var clock = RecordingClock()
        var statistics = SoundStatistics()
    }

    let kind = AudioDevice.Kind.microphone
    let report = SoundReport()
    private let slot = SinkSlot<any AudioSink>()
    private let state: Lock<State>

    init(_ wish: PulseWish) {
        state = Lock(State(wish: wish))
    }

    var wish: PulseWish { state.withLock { $0.wish } }
    var statistics: SoundStatistics { state.withLock { $0.statistics } }

    func change(_ body: (inout PulseWish) -> Void) {
        state.withLock { body(&$0.wish) }
    }

    func setSink(_ sink: (any AudioSink)?) {
        change { $0.isOpen = sink != nil }
        slot.set(sink)
    }

    func take(_ samples: UnsafeBufferPointer<Int16>, recordedAt time: Instant, now: Instant) {
        let frames = state.withLock { state in
            let frames = state.clock.take(samples, recordedAt: time)
            state.statistics.latency = now - time
            state.statistics.driftPPM = state.clock.driftPPM
            state.statistics.frames += frames.count
            state.statistics.gaps = state.clock.restarts
            return frames
        }
        for frame in frames { slot.deliver { $0.handleAudioFrame(frame) } }
    }

    func fill(_ samples: UnsafeMutableBufferPointer<Int16>, heardAt time: Instant?, now: Instant) {
        samples.update(repeating: 0)
    }

    func handle(_ event: PulseEvent) {
        state.withLock { $0.statistics.note(event) }
        report.tell(event)
    }
}
