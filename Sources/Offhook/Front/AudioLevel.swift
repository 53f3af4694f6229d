internal import Glibc
internal import OffhookMedia

/// How loud sound is, as RFC 6464 counts it.
enum AudioLevel {
    static let silence = -127.0

    /// The root mean square in decibels below the loudest there can be.
    static func level(of frame: AudioFrame) -> Double {
        guard !frame.samples.isEmpty else { return silence }
        let power = frame.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(frame.samples.count)
        guard power > 0 else { return silence }
        return max(silence, 10 * log10(power / (32768.0 * 32768.0)))
    }
}

extension AudioFrame {
    /// The same sound, louder or softer, clipped where it is too loud.
    func amplified(by gain: Double) -> AudioFrame {
        guard gain != 1 else { return self }
        var frame = self
        let factor = Float(gain)
        for index in frame.samples.indices {
            frame.samples[index] = Int16(min(max(Float(frame.samples[index]) * factor, -32768), 32767))
        }
        return frame
    }
}
