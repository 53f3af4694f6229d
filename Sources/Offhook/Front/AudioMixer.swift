internal import OffhookMedia

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
