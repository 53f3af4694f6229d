public import OffhookBasics

/// A few milliseconds of sound: signed 16-bit samples, channels interleaved.
public struct AudioFrame: Sendable {
    /// The samples, `channelCount` for each instant.
    public var samples: [Int16]
    /// Samples a second of one channel: 8000, 16000, 24000 or 48000.
    public var sampleRate: Int
    /// 1 for mono, 2 for stereo.
    public var channelCount: Int
    /// When the first sample was taken or is due, on the local monotonic clock.
    public var captureTime: Instant

    /// Makes a frame.
    public init(samples: [Int16], sampleRate: Int = 48000, channelCount: Int = 1, captureTime: Instant = .zero) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.captureTime = captureTime
    }

    /// How long the frame sounds.
    public var duration: Duration {
        .nanoseconds(Int64(samples.count / max(channelCount, 1)) * 1_000_000_000 / Int64(max(sampleRate, 1)))
    }
}

/// Takes sound. Called on a media thread, every 20 ms; return within a few milliseconds.
public protocol AudioSink: AnyObject, Sendable {
    /// Takes the next samples.
    func handleAudioFrame(_ frame: AudioFrame)
}

/// Makes sound: a microphone, a file, a tone.
public protocol AudioCapturer: AnyObject, Sendable {
    /// Chooses where samples go, 20 ms at a time. With nil it detaches: no frame is delivered after this returns.
    func setAudioSink(_ sink: (any AudioSink)?)
}
