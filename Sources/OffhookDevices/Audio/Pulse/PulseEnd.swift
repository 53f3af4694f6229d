internal import OffhookBasics

/// What a microphone or speaker wants of the sound server.
struct PulseWish: Hashable, Sendable {
    /// Whether a stream is wanted at all.
    var isOpen = false
    /// A device by id or a part of its name; nil follows the system's default.
    var device: String?
    /// How much sound is to be under way between the program and the device.
    var latency = Duration.milliseconds(40)
}

/// What has happened to the stream of a microphone or speaker.
enum PulseEvent: Hashable, Sendable {
    /// Sound flows by way of this device.
    case opened(device: String)
    /// No sound flows for now. Told once until it flows again.
    case interrupted(SoundError)
    /// The device that was wished for is not there, so that another is in use.
    case substituted(SoundError)
}

/// One end of a stream: the connection opens and closes the stream as `wish` says. Samples are 48 kHz mono.
///
/// `take`, `fill` and `handle` are called on the connection's thread, all else on any.
protocol PulseEnd: AnyObject, Sendable {
    var kind: AudioDevice.Kind { get }
    /// May be read on any thread; whoever changes it tells the server by `wishChanged()`.
    var wish: PulseWish { get }
    var statistics: SoundStatistics { get }
    var report: SoundReport { get }

    /// Changes the wish.
    func change(_ body: (inout PulseWish) -> Void)

    /// Takes what was recorded, the first sample at `time`.
    func take(_ samples: UnsafeBufferPointer<Int16>, recordedAt time: Instant, now: Instant)
    /// Gives the next samples, the first of which is heard at `time`.
    func fill(_ samples: UnsafeMutableBufferPointer<Int16>, heardAt time: Instant?, now: Instant)
    func handle(_ event: PulseEvent)
}
