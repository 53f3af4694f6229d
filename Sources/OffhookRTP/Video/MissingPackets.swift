internal import OffhookBasics

/// The packets a video receiver misses, and when to ask for each (RFC 4585 §6.2.1).
struct MissingPackets {
    private struct Missing {
        var number: Int
        var noticed: Instant
        var askAt: Instant
        var firstAskedAt = Instant.zero
        var askedAt = Instant.zero
        var tries: Int
        /// How often it has been asked for in this try.
        var copies = 0
    }

    static let mostTries = 10
    private static let mostMissing = 1024
    private static let copySpacing = Duration.milliseconds(8)
    private static let longFlight = Duration.milliseconds(150)

    /// In the order of their numbers.
    private var missing: [Missing] = []
    /// How long packets that were merely overtaken stay out, so that they are not asked for.
    private var disorder = Duration.milliseconds(5)

    var isEmpty: Bool { missing.isEmpty }
    private(set) var nextDeadline: Instant?
    /// The share of packets that do not come by themselves.
    private(set) var loss = 0.0
    /// From asking for a packet to its coming, smoothed: a receiver that sends no media learns its round trip from this.
    private(set) var answerTime: Duration?

    /// A packet has come in its place.
    mutating func noteArrival() {
        loss -= loss / 64
    }

    /// How often to ask for a packet in a row: where much is lost, requests are lost as well, and asking once more costs a
    /// round trip.
    private func copies(flight: Duration) -> Int {
        loss > (flight > Self.longFlight ? 0.02 : 0.12) ? 3 : loss > 0.02 ? 2 : 1
    }

    mutating func insert(_ numbers: Range<Int>, at now: Instant) {
        let added = numbers.suffix(Self.mostMissing)
        let place = added.first.map { first in missing.firstIndex { $0.number >= first } ?? missing.endIndex } ?? 0
        missing.insert(
            contentsOf: added.map { Missing(number: $0, noticed: now, askAt: now + disorder, tries: 0) }, at: place)
        if missing.count > Self.mostMissing { missing.removeFirst(missing.count - Self.mostMissing) }
        updateDeadline()
    }

    /// A packet that was missing is there; the result tells whether it had been asked for.
    mutating func remove(_ number: Int, at now: Instant) -> Bool {
        guard let index = index(of: number) else { return false }
        let found = missing.remove(at: index)
        if found.tries == 0 {
            let late = now - found.noticed
            disorder = min(.milliseconds(40), max(disorder, late + .milliseconds(2)))
        } else {
            disorder = max(.milliseconds(5), disorder - .microseconds(100))
            noteAnswer(to: found, at: now)
        }
        updateDeadline()
        return found.tries > 0
    }

    private mutating func noteAnswer(to found: Missing, at now: Instant) {
        let answered = now - found.askedAt
        guard let known = answerTime else {
            answerTime = now - found.firstAskedAt
            return
        }
        if found.tries == 1 {
            answerTime = known + (answered - known) / 8
        } else if answered < known / 2 {
            // Too soon to be the answer to the last question: it is that to an earlier one, and what we know is too short.
            answerTime = min(now - found.firstAskedAt, known * 2)
        }
    }

    mutating func removeAll(before number: Int) {
        let end = missing.firstIndex { $0.number >= number } ?? missing.endIndex
        guard end > 0 else { return }
        missing.removeFirst(end)
        updateDeadline()
    }

    mutating func removeAll() {
        missing.removeAll(keepingCapacity: true)
        nextDeadline = nil
    }

    /// When this number was found missing; nil where it is not missing or was given up.
    func noticed(_ number: Int) -> Instant? {
        index(of: number).map { missing[$0].noticed }
    }

    /// Whether asking for a number has been given up.
    func isGivenUp(_ number: Int) -> Bool {
        guard let index = index(of: number) else { return true }
        return missing[index].tries > Self.mostTries
    }

    /// The numbers to ask for now. Each is asked for again when an answer should have come: by the round trip that reports
    /// tell, by what answers have taken, or at first by what others know of the path.
    mutating func due(at now: Instant, roundTrip: Duration?, pathRoundTrip: Duration?) -> [SequenceNumber] {
        guard let deadline = nextDeadline, now >= deadline else { return [] }
        let flight = roundTrip ?? answerTime ?? pathRoundTrip ?? .milliseconds(100)
        let patience = min(.milliseconds(1000), max(.milliseconds(20), flight + flight / 4 + .milliseconds(5)))
        let copies = copies(flight: flight)
        var result: [SequenceNumber] = []
        for index in missing.indices where missing[index].askAt <= now {
            if missing[index].copies == 0 {
                if missing[index].tries == 0 { loss += (1 - loss) / 64 }
                missing[index].tries += 1
                missing[index].askedAt = now
                if missing[index].tries == 1 { missing[index].firstAskedAt = now }
            }
            guard missing[index].tries <= Self.mostTries else {
                missing[index].askAt = .distantFuture
                continue
            }
            result.append(SequenceNumber(UInt16(truncatingIfNeeded: missing[index].number)))
            missing[index].copies += 1
            if missing[index].copies < copies {
                missing[index].askAt = now + Self.copySpacing
            } else {
                missing[index].copies = 0
                missing[index].askAt = missing[index].askedAt + patience
            }
        }
        updateDeadline()
        return result
    }

    private mutating func updateDeadline() {
        var earliest = Instant.distantFuture
        for entry in missing where entry.askAt < earliest { earliest = entry.askAt }
        nextDeadline = earliest == .distantFuture ? nil : earliest
    }

    private func index(of number: Int) -> Int? {
        var low = 0
        var high = missing.count
        while low < high {
            let middle = (low + high) / 2
            if missing[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < missing.count && missing[low].number == number ? low : nil
    }
}
