/// What happened when, as far as the samples of a call show it.
struct Timeline: Sendable {
    struct Event: Sendable {
        var time: Double
        var text: String
    }

    private static let stillness = "the picture stands still: "

    private(set) var events: [Event] = []
    private var frozenInRow = 0.0
    /// Seconds in which the picture stood still.
    private(set) var freezes: [ClosedRange<Double>] = []
    /// The share of sound that was made up, in per cent, by the time of the sample.
    private(set) var concealed: [Double: Double] = [:]

    init(_ samples: [StatisticsSample]) {
        guard let first = samples.first else { return }
        events.append(Event(time: first.time, text: first.state))
        for (before, after) in zip(samples, samples.dropFirst()) {
            compare(before, after)
        }
    }

    /// One that goes on over several samples is one.
    private mutating func noteFreeze(_ length: Double, _ before: Double, _ after: Double) {
        var start = max(before, after - length)
        var total = length
        if let last = freezes.last, last.upperBound == before {
            start = last.lowerBound
            total += frozenInRow
            freezes.removeLast()
            events.removeAll { $0.time == before && $0.text.hasPrefix(Self.stillness) }
        }
        freezes.append(start...after)
        frozenInRow = total
        let shown = (total * 100).rounded() / 100
        events.append(Event(time: after, text: "\(Self.stillness)\(shown) s"))
    }

    private mutating func compare(_ before: StatisticsSample, _ after: StatisticsSample) {
        func note(_ text: String) { events.append(Event(time: after.time, text: text)) }
        if after.state != before.state { note(after.state) }
        for (name, old, new) in [
            ("sound sent", before.audio.sent, after.audio.sent),
            ("sound received", before.audio.received, after.audio.received),
            ("video sent", before.video.sent, after.video.sent),
            ("video received", before.video.received, after.video.received),
        ] {
            if new.codec != old.codec { note("\(name): \(new.codec ?? "no codec")") }
            if new.encrypted != old.encrypted { note("\(name): \(new.encrypted ?? "not encrypted")") }
            if new.remote != old.remote, let remote = new.remote { note("\(name): with \(remote)") }
            guard let width = new.width, let height = new.height else { continue }
            if width != old.width || height != old.height { note("\(name): \(Int(width))x\(Int(height))") }
        }
        if after.video.received.quality != before.video.received.quality, after.video.received.packets > 0 {
            note("video received is \(after.video.received.quality)")
        }
        let frozen = after.video.received.frozenSeconds - before.video.received.frozenSeconds
        if frozen > 0.05 { noteFreeze(frozen, before.time, after.time) }
        let made = after.audio.received.concealedSamples - before.audio.received.concealedSamples
        let played = after.audio.received.samples - before.audio.received.samples
        if played > 0 { concealed[after.time] = max(0, made) / played * 100 }
    }
}
