package import OffhookBasics

/// Puts one source's video packets in order and gives out whole frames that can be decoded, in decoding order.
///
/// A gap is waited for while repair may still fill it; then everything up to the next frame that needs nothing lost is
/// passed over, and a key frame is asked for. A frame with a part missing never leaves.
package final class VideoReceiveStream {
    private struct Slot {
        var number = -1
        var packet: PacketBuffer?
        var payloadRange = 0..<0
        var timestamp = RTPTimestamp(0)
        var payloadType: UInt8 = 0
        var isLast = false
        var isKeyFrameStart = false
        var descriptor = VP8PayloadDescriptor()
        var receiveTime = Instant.zero

        var startsFrame: Bool { packet != nil && descriptor.startsFrame }
    }

    /// What may be done with the frame that starts at a number.
    private enum Frame {
        case whole(end: Int)
        case incomplete(missing: Int)
    }

    private let ring = SlotRing(capacity: 2048, repeating: Slot())
    private let asksForRepair: Bool
    private var pool = EncodedFramePool()
    private var missing = MissingPackets()
    private var references = VP8References()
    package var requester = KeyFrameRequester()

    /// The number after the last packet that was used or passed over; nil before the first packet.
    private var nextNumber: Int?
    private var highest = -1
    private var firstArrival = Instant.zero
    private var needsKeyFrame = true
    /// Frames were passed over since the last one that was given out.
    private var hasLoss = false
    /// The missing packet that holds up the next frame, since when, and when to think again about it.
    private var gap: (number: Int, since: Instant, checkAt: Instant)?

    /// From RTCP; it paces repeats of requests.
    package var roundTrip: Duration?
    /// As others know it of the path, where RTCP tells none.
    package var pathRoundTrip: Duration?

    package private(set) var frames = 0
    package private(set) var keyFrames = 0
    package private(set) var framesDropped = 0
    package private(set) var duplicatePackets = 0
    package private(set) var latePackets = 0
    package private(set) var repairedPackets = 0

    /// How long a gap is waited for when nobody can repair it, for packets that were merely overtaken.
    private static let disorderPatience = Duration.milliseconds(60)
    /// How long a gap keeps a whole key frame behind it waiting.
    private static let keyFramePatience = Duration.milliseconds(80)
    /// From asking to the answer; in whole nanoseconds, as instants are.
    private var flight: Duration {
        .nanoseconds((roundTrip ?? missing.answerTime ?? pathRoundTrip ?? .zero).inNanoseconds / 4 * 4)
    }
    /// How long a gap is waited for at most: three repeats should have come.
    private var repairPatience: Duration { max(.milliseconds(1000), flight * 4) }
    /// A gap this old makes us ask for a key frame beside the repair: two repeats should have come.
    private var requestPatience: Duration { max(.milliseconds(400), flight * 5 / 2) }
    /// How long a gap is waited for in what is of no use until a key frame comes: it may be that key frame's start.
    private var startPatience: Duration { Self.disorderPatience + min(.seconds(1), flight * 5 / 4) }

    package init(asksForRepair: Bool) {
        self.asksForRepair = asksForRepair
    }

    // MARK: Packets in

    /// Takes a packet with its extended number; it is kept or given back. Frames that are ready are appended.
    package func insert(
        _ packet: PacketBuffer, header: RTPHeader, number: Int, at now: Instant, pool: inout PacketPool,
        frames: inout [ReceivedVideoFrame]
    ) {
        guard claim(number, at: now, pool: &pool) else {
            pool.give(packet)
            return
        }
        fill(number, packet, header, at: now, pool: &pool)
        advance(at: now, pool: &pool, frames: &frames)
    }

    /// Drops everything: another source, or numbers that start anew.
    package func reset(pool: inout PacketPool) {
        for number in 0..<ring.capacity { release(number, pool: &pool) }
        nextNumber = nil
        highest = -1
        missing.removeAll()
        references = VP8References()
        needsKeyFrame = true
        hasLoss = false
        gap = nil
    }

    private func claim(_ number: Int, at now: Instant, pool: inout PacketPool) -> Bool {
        guard let next = nextNumber else {
            nextNumber = number
            highest = number
            firstArrival = now
            return true
        }
        if number < next {
            if isStarting(at: now), next - number < 64, ring[number].number != number {
                // It was overtaken by the packet that started the stream.
                if asksForRepair { missing.insert(number + 1..<next, at: now) }
                nextNumber = number
                return true
            }
            latePackets += 1
            return false
        }
        if ring[number].number == number {
            duplicatePackets += 1
            return false
        }
        if number - next >= ring.capacity {
            loseAll(before: number, pool: &pool)
        }
        if number > highest { missing.noteArrival() }
        if number > highest + 1, asksForRepair { missing.insert(highest + 1..<number, at: now) }
        if number <= highest, missing.remove(number, at: now) { repairedPackets += 1 }
        highest = max(highest, number)
        return true
    }

    /// Whether packets that come may belong before the first one. Later they are repeats of what was passed over.
    private func isStarting(at now: Instant) -> Bool {
        frames == 0 && framesDropped == 0 && now < firstArrival + Self.disorderPatience
    }

    private func fill(
        _ number: Int, _ packet: PacketBuffer, _ header: RTPHeader, at now: Instant, pool: inout PacketPool
    ) {
        var slot = Slot()
        slot.number = number
        slot.timestamp = header.timestamp
        slot.payloadType = header.payloadType
        slot.isLast = header.marker
        slot.receiveTime = now
        let payload = packet.bytes.extracting(header.payloadRange)
        if let (descriptor, size) = try? VP8PayloadDescriptor.parse(payload), payload.byteCount > size {
            slot.packet = packet
            slot.payloadRange = header.payloadRange.lowerBound + size..<header.payloadRange.upperBound
            slot.descriptor = descriptor
            slot.isKeyFrameStart = descriptor.startsFrame && payload.loadByte(at: size) & 0x01 == 0
        } else {
            // Padding, or nothing that VP8 could use: it takes its number and no more.
            pool.give(packet)
        }
        ring[number] = slot
    }

    private func loseAll(before number: Int, pool: inout PacketPool) {
        for old in 0..<ring.capacity { release(old, pool: &pool) }
        missing.removeAll()
        nextNumber = number
        highest = number - 1
        lose()
    }

    private func lose() {
        hasLoss = true
        needsKeyFrame = true
        gap = nil
        requester.need()
    }

    // MARK: Frames out

    private func advance(at now: Instant, pool packets: inout PacketPool, frames: inout [ReceivedVideoFrame]) {
        while let next = nextNumber, next <= highest {
            if ring[next].number == next, ring[next].packet == nil {
                release(next, pool: &packets)
                nextNumber = next + 1
                continue
            }
            if ring[next].number == next, !ring[next].startsFrame {
                if isStarting(at: now) {
                    // The stream's first packet may have been overtaken.
                    gap = (next, firstArrival, firstArrival + Self.disorderPatience)
                    return
                }
                // The rest of a frame whose start is gone.
                passFrame(at: next, pool: &packets)
                continue
            }
            switch frame(at: next) {
            case .whole(let end):
                gap = nil
                giveOrPass(next...end, at: now, pool: &packets, frames: &frames)
            case .incomplete(let number):
                guard cross(number, from: next, at: now, pool: &packets) else { return }
            }
        }
    }

    /// Whether the frame that starts at a number is whole: all packets up to its marker or to the next timestamp.
    private func frame(at start: Int) -> Frame {
        guard ring[start].number == start else { return .incomplete(missing: start) }
        let timestamp = ring[start].timestamp
        var number = start
        while true {
            if ring[number].isLast { return .whole(end: number) }
            let following = number + 1
            guard following <= highest, ring[following].number == following else {
                return .incomplete(missing: following)
            }
            if ring[following].timestamp != timestamp || ring[following].startsFrame { return .whole(end: number) }
            number = following
        }
    }

    private func giveOrPass(
        _ range: ClosedRange<Int>, at now: Instant, pool packets: inout PacketPool, frames: inout [ReceivedVideoFrame]
    ) {
        let first = ring[range.lowerBound]
        let isKeyFrame = first.isKeyFrameStart
        let isDecodable: Bool
        if isKeyFrame {
            isDecodable = true
        } else if hasLoss || needsKeyFrame {
            isDecodable = references.isDecodableAfterLoss(first.descriptor)
        } else {
            isDecodable = references.isDecodableInOrder(first.descriptor)
        }
        nextNumber = range.upperBound + 1
        missing.removeAll(before: range.upperBound + 1)
        guard isDecodable else {
            framesDropped += 1
            references.pass(first.descriptor)
            if needsKeyFrame { requester.need() }
            for number in range { release(number, pool: &packets) }
            return
        }
        let buffer = pool.take()
        var receiveTime = first.receiveTime
        for number in range {
            guard let packet = ring[number].packet else { continue }
            buffer.append(packet.bytes.extracting(ring[number].payloadRange))
            receiveTime = max(receiveTime, ring[number].receiveTime)
        }
        references.give(first.descriptor, isKeyFrame: isKeyFrame, afterLoss: hasLoss)
        for number in range { release(number, pool: &packets) }
        hasLoss = false
        needsKeyFrame = false
        self.frames += 1
        if isKeyFrame {
            keyFrames += 1
            requester.satisfy()
        }
        frames.append(
            ReceivedVideoFrame(
                buffer: buffer, isKeyFrame: isKeyFrame, timestamp: first.timestamp, payloadType: first.payloadType,
                receiveTime: receiveTime, pictureID: references.extendedPictureID))
    }

    /// Passes over the packets from a number on that belong to one timestamp.
    private func passFrame(at start: Int, pool: inout PacketPool) {
        let timestamp = ring[start].timestamp
        var number = start
        while number <= highest, ring[number].number == number, ring[number].timestamp == timestamp,
            number == start || !ring[number].startsFrame
        {
            let isLast = ring[number].isLast
            release(number, pool: &pool)
            number += 1
            if isLast { break }
        }
        framesDropped += 1
        nextNumber = number
        missing.removeAll(before: number)
        lose()
    }

    // MARK: Gaps

    /// Whether the gap at a number may be left behind now; if so, everything before the frame to go on with is passed over.
    private func cross(_ number: Int, from next: Int, at now: Instant, pool: inout PacketPool) -> Bool {
        guard number <= highest else {
            // The frame is merely still arriving.
            gap = nil
            return false
        }
        let since = gap.flatMap { $0.number == number ? $0.since : nil } ?? missing.noticed(number) ?? now
        let age = now - since
        let following = firstStart(after: number)
        if let following, number == next, references.isNext(ring[following].descriptor) {
            // No picture is between: what is missing was padding, or something else that no picture needs.
            jump(to: following, isLoss: false, pool: &pool)
            return true
        }
        if needsKeyFrame || age >= Self.keyFramePatience, let start = wholeKeyFrame(after: number) {
            jump(to: start, isLoss: true, pool: &pool)
            return true
        }
        if age >= requestPatience { requester.need() }
        guard isGivenUp(number, of: next, age: age) else {
            gap = (number, since, since + nextCheck(after: age))
            return false
        }
        jump(to: following ?? highest + 1, isLoss: true, pool: &pool)
        return true
    }

    private func isGivenUp(_ number: Int, of frame: Int, age: Duration) -> Bool {
        if age >= repairPatience { return true }
        if !asksForRepair { return age >= Self.disorderPatience }
        if needsKeyFrame, !isPartOfKeyFrame(frame) { return age >= startPatience }
        return missing.noticed(number) != nil && missing.isGivenUp(number)
    }

    /// Each of the patiences is a moment to look at a gap again.
    private func nextCheck(after age: Duration) -> Duration {
        var next = repairPatience
        if age < requestPatience { next = min(next, requestPatience) }
        if age < startPatience { next = min(next, startPatience) }
        if age < Self.keyFramePatience { next = min(next, Self.keyFramePatience) }
        if age < Self.disorderPatience { next = min(next, Self.disorderPatience) }
        return next
    }

    private func isPartOfKeyFrame(_ next: Int) -> Bool {
        ring[next].number == next && ring[next].isKeyFrameStart
    }

    /// The first packet after a gap that starts a frame.
    private func firstStart(after gap: Int) -> Int? {
        var number = gap + 1
        while number <= highest {
            if ring[number].number == number, ring[number].startsFrame { return number }
            number += 1
        }
        return nil
    }

    private func wholeKeyFrame(after gap: Int) -> Int? {
        var number = gap + 1
        while number <= highest {
            if ring[number].number == number, ring[number].isKeyFrameStart, case .whole = frame(at: number) {
                return number
            }
            number += 1
        }
        return nil
    }

    private func jump(to number: Int, isLoss: Bool, pool: inout PacketPool) {
        if let next = nextNumber {
            var lost = 0
            var old = next
            while old < number {
                if ring[old].number == old, ring[old].startsFrame { lost += 1 }
                release(old, pool: &pool)
                old += 1
            }
            if isLoss { framesDropped += max(1, lost) }
        }
        nextNumber = number
        missing.removeAll(before: number)
        gap = nil
        if isLoss { lose() }
    }

    private func release(_ number: Int, pool: inout PacketPool) {
        if let packet = ring[number].packet { pool.give(packet) }
        ring[number] = Slot()
    }

    // MARK: Time

    package var nextDeadline: Instant? {
        var earliest = missing.nextDeadline ?? .distantFuture
        if let deadline = requester.nextDeadline { earliest = min(earliest, deadline) }
        if let gap { earliest = min(earliest, gap.checkAt) }
        return earliest == .distantFuture ? nil : earliest
    }

    /// Leaves behind what has been waited for long enough; the result is what to ask for.
    package func handle(
        timeoutAt now: Instant, pool: inout PacketPool, frames: inout [ReceivedVideoFrame]
    ) -> [SequenceNumber] {
        let due = missing.due(at: now, roundTrip: roundTrip, pathRoundTrip: pathRoundTrip)
        advance(at: now, pool: &pool, frames: &frames)
        return due
    }
}
