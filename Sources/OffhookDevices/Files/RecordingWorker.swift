package import OffhookBasics
package import OffhookMedia

/// Puts the streams of a call in order and into the file. It belongs to one thread.
package struct RecordingWorker {
    package enum Side: CaseIterable, Hashable, Sendable {
        case remote, local

        var pictureTrack: Int { self == .remote ? 1 : 3 }
        var soundTrack: Int { self == .remote ? 2 : 4 }
    }

    /// What is known of one side's pictures.
    fileprivate struct Pictures {
        var lastKeyFrame: Instant?
        var lastRequest: Instant?
        var size = VideoSize(width: 0, height: 0)
        var hasBegun = false
        /// A key frame is wanted that is no earlier than this one of the other side.
        var dueBy: Instant?
    }

    /// What is known of one side's sound.
    private struct Sound {
        var channelCount = 1
        /// Where the sound in the file ends.
        var end: Instant?
    }

    private struct Waiting {
        var time: Instant
        var duration: Duration
        var block: WebMWriter.Block
    }

    /// How long a block waits for one that belongs before it: encoding takes its time, and the far end's pictures may be placed
    /// before sound that was played earlier.
    private static let patience = Duration.milliseconds(400)
    private static let requestPause = Duration.milliseconds(500)
    /// A full-band Opus packet of 20 ms that holds silence.
    private static let silence: [UInt8] = [0xF8, 0xFF, 0xFE]
    private static let silenceDuration = Duration.milliseconds(20)

    package let writer: WebMWriter
    private let keyFrameInterval: Duration?
    private var pictures: [Side: Pictures] = [:]
    private var sound: [Side: Sound] = [:]
    /// In order of time.
    private var waiting: [Waiting] = []
    private var lastTimes: [Int: Instant] = [:]
    private var origin: Instant?
    /// Where the file ends.
    package private(set) var duration = Duration.zero

    package init(writer: WebMWriter, keyFrameInterval: Duration?) {
        self.writer = writer
        self.keyFrameInterval = keyFrameInterval
    }

    // MARK: Streams in

    /// Takes a picture; returns whether its side should be asked for a key frame.
    package mutating func takePicture(
        _ bytes: [UInt8], isKeyFrame: Bool, size: VideoSize?, time: Instant, of side: Side, at now: Instant
    ) -> Bool {
        var state = pictures[side, default: Pictures()]
        defer { pictures[side] = state }
        if isKeyFrame {
            state.lastKeyFrame = now
            if let size {
                state.size = VideoSize(
                    width: max(state.size.width, size.width), height: max(state.size.height, size.height))
            }
            state.hasBegun = true
            if let dueBy = state.dueBy, time >= dueBy { state.dueBy = nil }
            // Players go to a key frame of the far end's; our picture should stand alone there as well.
            if side == .remote { pictures[.local, default: Pictures()].dueBy = time }
            writer.setTrack(
                WebMTrack(
                    number: side.pictureTrack, name: side == .remote ? "Far end, picture" : "Own picture",
                    isDefault: side == .remote, content: .vp8(state.size)))
        }
        guard state.hasBegun else { return state.isToRequest(at: now, every: .zero, pause: Self.requestPause) }
        add(
            Waiting(
                time: time, duration: .zero,
                block: WebMWriter.Block(track: side.pictureTrack, time: 0, isKeyFrame: isKeyFrame, bytes: bytes)))
        if state.dueBy != nil { return state.isToRequest(at: now, every: .zero, pause: Self.requestPause) }
        guard let keyFrameInterval else { return false }
        let isLeader = side == .remote || pictures[.remote]?.hasBegun != true
        return state.isToRequest(
            at: now, every: isLeader ? keyFrameInterval : keyFrameInterval * 2, pause: Self.requestPause)
    }

    /// Pictures of this side were lost here: what follows needs a key frame.
    package mutating func forgetPicture(of side: Side) {
        pictures[side]?.hasBegun = false
    }

    /// Takes an Opus packet.
    package mutating func takeSound(_ bytes: [UInt8], duration: Duration, time: Instant, of side: Side) {
        // One that says nothing leaves a gap, which is filled like any other.
        guard bytes.count > 2 else { return }
        var state = sound[side, default: Sound()]
        if bytes[0] & 0x04 != 0 { state.channelCount = 2 }
        writer.setTrack(
            WebMTrack(
                number: side.soundTrack, name: side == .remote ? "Far end, sound" : "Own sound",
                isDefault: side == .remote, content: .opus(channelCount: state.channelCount)))
        sound[side] = state
        add(
            Waiting(
                time: time, duration: duration,
                block: WebMWriter.Block(track: side.soundTrack, time: 0, isKeyFrame: true, bytes: bytes)))
    }

    private mutating func add(_ new: Waiting) {
        if origin == nil { origin = new.time }
        var new = new
        // Whatever the clocks say, a track keeps its order.
        new.time = max(new.time, lastTimes[new.block.track] ?? new.time)
        lastTimes[new.block.track] = new.time
        let place = waiting.lastIndex { $0.time <= new.time }.map { $0 + 1 } ?? 0
        waiting.insert(new, at: place)
    }

    // MARK: Into the file

    /// Writes what no earlier block can come before any more.
    package mutating func advance(to now: Instant) {
        release(before: now - Self.patience)
    }

    package mutating func finish() {
        release(before: .distantFuture)
        writer.close()
    }

    private mutating func release(before limit: Instant) {
        let count = waiting.firstIndex { $0.time >= limit } ?? waiting.count
        for item in waiting[..<count] {
            fillGaps(before: item.time, because: item.block.track)
            write(item)
        }
        waiting.removeFirst(count)
        if limit != .distantFuture { fillGaps(before: limit, because: nil) }
    }

    private mutating func write(_ item: Waiting) {
        if let side = Side.allCases.first(where: { $0.soundTrack == item.block.track }) {
            // What silence has been put in place of comes too late.
            let end = sound[side]?.end ?? item.time
            guard item.time + item.duration / 2 >= end else { return }
            sound[side]?.end = max(end, item.time) + item.duration
        }
        put(item.block, at: item.time)
    }

    /// Players differ in what they do with gaps of sound; silence is played alike by all. It is put where a whole packet's worth
    /// is missing and nothing is waiting to be put there.
    private mutating func fillGaps(before time: Instant, because track: Int?) {
        for side in Side.allCases {
            guard var end = sound[side]?.end else { continue }
            let isNext = side.soundTrack == track
            // Another track's block comes next: this one's may still be on its way to a place a little before it.
            let limit = isNext || track == nil ? time : time - Self.silenceDuration
            guard isNext || !waiting.contains(where: { $0.block.track == side.soundTrack && $0.time < limit }) else {
                continue
            }
            while limit - end >= Self.silenceDuration {
                put(WebMWriter.Block(track: side.soundTrack, time: 0, isKeyFrame: true, bytes: Self.silence), at: end)
                end = end + Self.silenceDuration
            }
            sound[side]?.end = end
        }
    }

    private mutating func put(_ block: WebMWriter.Block, at time: Instant) {
        guard let origin else { return }
        var block = block
        let place = time - origin
        block.time = Int((place.inNanoseconds + 500_000) / 1_000_000)
        duration = max(duration, place)
        writer.write(block)
    }
}

extension RecordingWorker.Pictures {
    fileprivate mutating func isToRequest(at now: Instant, every interval: Duration, pause: Duration) -> Bool {
        if let lastKeyFrame, hasBegun, now - lastKeyFrame < interval { return false }
        if let lastRequest, now - lastRequest < pause { return false }
        lastRequest = now
        return true
    }
}
