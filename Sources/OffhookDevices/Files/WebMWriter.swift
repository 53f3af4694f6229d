/// Writes coded pictures and sound to a WebM file (RFC 9559), which can be played at any time, even after the process was
/// killed.
///
/// What comes is collected in clusters of at most half a second, and each goes into the file whole, in one piece. The header
/// has its place at the front with room to spare, and is written anew when a track begins or grows. ``close()`` adds the index
/// and says how long all is. It belongs to one thread.
///
/// This is no use of libwebm, since that wants to know every track and its size before the first picture, whereas video may
/// join a call at any time, and since it holds sound back without limit as long as a video track is still.
package final class WebMWriter {
    /// One coded picture or packet of sound.
    package struct Block: Sendable {
        package var track: Int
        /// Milliseconds since the file's beginning.
        package var time: Int
        package var isKeyFrame: Bool
        package var bytes: [UInt8]

        package init(track: Int, time: Int, isKeyFrame: Bool, bytes: [UInt8]) {
            self.track = track
            self.time = time
            self.isKeyFrame = isKeyFrame
            self.bytes = bytes
        }
    }

    /// A place to begin playing at: where the cluster begins that has it.
    private struct Cue {
        var time: Int
        var track: Int
        var position: Int
    }

    private struct Cluster {
        var time: Int
        var content: [UInt8] = []
        var end: Int
        var cueTracks: [(track: Int, time: Int)] = []
    }

    private static let longestCluster = 500
    private static let soundCueInterval = 5_000
    private static let headerSize = 2048
    /// What stands before the segment's content: the EBML header, the segment's identifier, and its length.
    private static let start: [UInt8] = {
        var header = EBML.unsigned(0x4286, 1) + EBML.unsigned(0x42F7, 1) + EBML.unsigned(0x42F2, 4)
        header += EBML.unsigned(0x42F3, 8) + EBML.text(0x4282, "webm")
        // Version 4 has Opus's delay; version 2 is enough to read blocks.
        header += EBML.unsigned(0x4287, 4) + EBML.unsigned(0x4285, 2)
        return EBML.element(0x1A45_DFA3, header) + EBML.bytes(ofIdentifier: 0x1853_8067)
    }()
    private static let contentStart = start.count + 8

    private let file: OutputFile
    private var tracks: [WebMTrack] = []
    private var isHeaderStale = true
    private var cluster: Cluster?
    private var cues: [Cue] = []
    private var lastTimes: [Int: Int] = [:]
    private var duration = 0
    private var cuesPosition: Int?
    private var isClosed = false

    /// Creates the file.
    package init(path: String) throws(DeviceError) {
        file = try OutputFile(creating: path)
        writeHeader()
        if let error = file.error { throw error }
    }

    /// The first trouble with writing, if there was any; what came later was not kept.
    package var error: DeviceError? { file.error }

    /// Bytes in the file.
    package var length: Int { file.length }

    // MARK: Writing

    /// Adds a track, or changes what the header says of it.
    package func setTrack(_ track: WebMTrack) {
        if let index = tracks.firstIndex(where: { $0.number == track.number }) {
            guard tracks[index] != track else { return }
            tracks[index] = track
        } else {
            tracks.append(track)
            tracks.sort { $0.number < $1.number }
        }
        isHeaderStale = true
    }

    /// What the header says of a track.
    package func track(_ number: Int) -> WebMTrack? {
        tracks.first { $0.number == number }
    }

    /// Appends a block, in order of time. One that comes in too late for its own track is moved behind what is there.
    package func write(_ block: Block) {
        guard !isClosed, let track = track(block.track) else { return }
        var time = max(0, block.time)
        if let last = lastTimes[block.track] { time = max(time, track.isVideo ? last + 1 : last) }
        lastTimes[block.track] = time
        let beginsPlaying = track.isVideo && block.isKeyFrame
        if let cluster, time - cluster.time >= Self.longestCluster || beginsPlaying || time < cluster.time - 32_000 {
            flush()
        }
        var cluster = self.cluster ?? Cluster(time: time, end: time)
        let relative = UInt16(bitPattern: Int16(clamping: time - cluster.time))
        // A block of one frame: track, time, flags (RFC 9559 §10.2).
        let head =
            EBML.length(block.track) + [UInt8(relative >> 8), UInt8(relative & 0xFF), block.isKeyFrame ? 0x80 : 0]
        cluster.content += EBML.bytes(ofIdentifier: 0xA3) + EBML.length(head.count + block.bytes.count) + head
        cluster.content += block.bytes
        cluster.end = max(cluster.end, time)
        if beginsPlaying || isSoundCueDue(track, at: time, in: cluster) {
            cluster.cueTracks.append((block.track, time))
        }
        self.cluster = cluster
    }

    /// Sound can be begun anywhere; now and then is enough, and only at the head of a cluster.
    private func isSoundCueDue(_ track: WebMTrack, at time: Int, in cluster: Cluster) -> Bool {
        guard !track.isVideo, !cluster.cueTracks.contains(where: { $0.track == track.number }) else { return false }
        guard let last = cues.last(where: { $0.track == track.number }) else { return true }
        return time - last.time >= Self.soundCueInterval
    }

    /// Writes what has been collected, so that it is there whatever happens to the process.
    package func flush() {
        guard let cluster else { return }
        self.cluster = nil
        duration = max(duration, cluster.end)
        // A reader never finds a block of a track that the header does not have yet.
        if isHeaderStale { writeHeader() }
        let position = file.length - Self.contentStart
        guard file.append(EBML.element(0x1F43_B675, EBML.unsigned(0xE7, UInt64(cluster.time)) + cluster.content)) else {
            return
        }
        cues += cluster.cueTracks.map { Cue(time: $0.time, track: $0.track, position: position) }
        writeHeader()
    }

    /// Completes the file: index, lengths, duration. What comes later is dropped.
    package func close() {
        guard !isClosed else { return }
        flush()
        isClosed = true
        if !cues.isEmpty {
            let position = file.length - Self.contentStart
            let points = cues.sorted { ($0.time, $0.track) < ($1.time, $1.track) }.map { cue in
                let place = EBML.unsigned(0xF7, UInt64(cue.track)) + EBML.unsigned(0xF1, UInt64(cue.position))
                return EBML.element(0xBB, EBML.unsigned(0xB3, UInt64(cue.time)) + EBML.element(0xB7, place))
            }
            if file.append(EBML.element(0x1C53_BB6B, Array(points.joined()))) { cuesPosition = position }
        }
        writeHeader()
        file.overwrite(EBML.longLength(file.length - Self.contentStart), at: Self.start.count)
        file.close()
    }

    // MARK: The header

    private func writeHeader() {
        let header = header()
        if file.length == 0 {
            file.append(Self.start + EBML.unknownLength + header)
        } else {
            file.overwrite(header, at: Self.contentStart)
        }
        isHeaderStale = false
    }

    /// Where things are, how long all is, and the tracks, always of the same size.
    private func header() -> [UInt8] {
        var information = EBML.unsigned(0x2AD7B1, 1_000_000)
        if duration > 0 { information += EBML.float(0x4489, Double(duration)) }
        information += EBML.text(0x4D80, "Offhook") + EBML.text(0x5741, "Offhook")
        let facts = EBML.element(0x1549_A966, information)
        let entries = EBML.element(0x1654_AE6B, Array(tracks.map(\.entry).joined()))
        // What it points to moves with its own size, which is made the same for all.
        let seekSize = 128
        var seeks = seek(0x1549_A966, at: seekSize) + seek(0x1654_AE6B, at: seekSize + facts.count)
        if let cuesPosition { seeks += seek(0x1C53_BB6B, at: cuesPosition) }
        let list = EBML.element(0x114D_9B74, seeks)
        let content = list + EBML.void(size: seekSize - list.count) + facts + entries
        return content + EBML.void(size: Self.headerSize - content.count)
    }

    private func seek(_ identifier: UInt32, at position: Int) -> [UInt8] {
        let target = EBML.element(0x53AB, EBML.bytes(ofIdentifier: identifier))
        return EBML.element(0x4DBB, target + EBML.unsigned(0x53AC, UInt64(position)))
    }
}
