public import Offhook
internal import OffhookBasics

/// The rules that every ``VideoCapturer`` must keep.
///
/// The checks wait for pictures as they come; a capturer must make one every few seconds at least.
public enum VideoCapturerConformance {
    /// One check for each rule.
    public static func checks<Capturer: VideoCapturer>(for type: Capturer.Type) -> [ConformanceCheck<Capturer>] {
        let rules = CapturerRules<Capturer, VideoFrame>(
            frames: "pictures", connect: { $0.setVideoSink($1) }, captureTime: \.captureTime)
        return rules.checks + [
            rules.check("kept pictures", "Does not write to a picture that somebody still holds.") { capturer in
                let first = Tap<VideoFrame>(keeping: 3)
                capturer.setVideoSink(first)
                try await first.wait(for: 3, as: "pictures")
                // More may have come by now; they are held all the same.
                let kept = first.frames
                let before = kept.map(Picture.checksum)
                let second = Tap<VideoFrame>()
                capturer.setVideoSink(second)
                try await second.wait(for: 10, as: "pictures while some are held")
                try await rules.detach(capturer)
                guard kept.map(Picture.checksum) == before else { throw BrokenRule("it was written to") }
            }
        ]
    }
}

/// The rules that every ``AudioCapturer`` must keep.
public enum AudioCapturerConformance {
    /// One check for each rule.
    public static func checks<Capturer: AudioCapturer>(for type: Capturer.Type) -> [ConformanceCheck<Capturer>] {
        let rules = CapturerRules<Capturer, AudioFrame>(
            frames: "frames of sound", connect: { $0.setAudioSink($1) }, captureTime: \.captureTime)
        return rules.checks + [
            rules.check("frame length", "Delivers 20 ms a frame, at 8, 16, 24 or 48 kHz, in mono or stereo.") {
                capturer in
                let tap = Tap<AudioFrame>(keeping: 10)
                capturer.setAudioSink(tap)
                try await tap.wait(for: 10, as: "frames of sound")
                try await rules.detach(capturer)
                for frame in tap.frames {
                    guard [8000, 16000, 24000, 48000].contains(frame.sampleRate), (1...2).contains(frame.channelCount)
                    else { throw BrokenRule("a frame had \(frame.channelCount) channels of \(frame.sampleRate) Hz") }
                    guard frame.samples.count == frame.sampleRate / 50 * frame.channelCount else {
                        throw BrokenRule("a frame had \(frame.samples.count) samples")
                    }
                }
            }
        ]
    }
}
