import Foundation
import OffhookBasics
import OffhookCodecs
import OffhookDevices
import OffhookMedia

/// What it costs to make VP8 of a webcam's motion JPEG, beside ffmpeg with the same settings of the same libvpx, in turns.
@main enum CaptureBenchmark {
    private static let rounds = 3
    private static let size = VideoSize(width: 1280, height: 720)
    private static let bitrate = 1_500_000

    static func main() throws {
        guard let path = CommandLine.arguments.dropFirst().first else {
            print("Type: CaptureBenchmark FILM.mjpeg")
            exit(2)
        }
        let pictures = split(try Data(contentsOf: URL(filePath: path)))
        print("\(pictures.count) pictures of \(size), \(bitrate / 1000) kbit/s, one thread; seconds of processor time")
        var (own, others): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            let mine = try encode(pictures)
            let theirs = try encodeWithFFmpeg(path)
            own.append(mine.seconds)
            others.append(theirs.seconds)
            print(
                String(
                    format: "Offhook %.2f (%d pictures, %d kB)   ffmpeg %.2f (%d pictures, %d kB)", mine.seconds,
                    mine.count, mine.bytes / 1000, theirs.seconds, theirs.count, theirs.bytes / 1000))
        }
        // Of the best of each, as what else the machine does only adds.
        let ratio = (own.min() ?? 0) / max(others.min() ?? 0, 0.001)
        print(String(format: "Offhook takes %.2f times what ffmpeg does; the goal is 1.05 at most.", ratio))
    }

    private struct Cost {
        var seconds: Double
        var count: Int
        var bytes: Int
    }

    /// The film's pictures: each ends where the next one's first marker is.
    private static func split(_ film: Data) -> [Data] {
        var pictures: [Data] = []
        let begin = Data([0xFF, 0xD8, 0xFF])
        var start = film.range(of: begin)?.lowerBound
        while let from = start {
            let next = film.range(of: begin, in: from + 3..<film.endIndex)?.lowerBound
            pictures.append(Data(film[from..<(next ?? film.endIndex)]))
            start = next
        }
        return pictures
    }

    /// As the capture thread and the encoder's do it, on one thread.
    private static func encode(_ pictures: [Data]) throws -> Cost {
        guard let converter = PixelConverter(PixelConverter.Layout(pixelFormat: .mjpeg, size: size)) else {
            throw CocoaError(.featureUnsupported)
        }
        let pool = VideoFramePool()
        var configuration = VP8EncoderConfiguration()
        configuration.bitrate = bitrate
        configuration.threadCount = 1
        let encoder = VP8Encoder(configuration: configuration)
        var cost = Cost(seconds: 0, count: 0, bytes: 0)
        let start = processorSeconds(RUSAGE_SELF)
        for (number, picture) in pictures.enumerated() {
            let buffer = pool.takeBuffer(size: size)
            guard picture.withUnsafeBytes({ converter.convert([$0], into: buffer) }) else { continue }
            let time = Instant.zero + .microseconds(number * 1_000_000 / 30)
            try encoder.encode(VideoFrame(buffer: buffer, captureTime: time)) { bytes, _ in
                cost.count += 1
                cost.bytes += bytes.byteCount
            }
        }
        cost.seconds = processorSeconds(RUSAGE_SELF) - start
        return cost
    }

    private static func encodeWithFFmpeg(_ path: String) throws -> Cost {
        let output = path + ".ivf"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-v", "error", "-y", "-nostdin", "-threads", "1", "-f", "mjpeg", "-framerate", "30", "-i", path,
            "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", "-filter_threads", "1", "-c:v", "libvpx", "-threads",
            "1",
            "-deadline", "realtime", "-cpu-used", "-8", "-b:v", "\(bitrate)", "-minrate", "\(bitrate)", "-maxrate",
            "\(bitrate)", "-bufsize", "\(bitrate)", "-rc_init_occupancy", "\(bitrate / 2)", "-lag-in-frames", "0",
            "-error-resilient", "default", "-g", "3000", "-qmin", "2", "-qmax", "56", "-static-thresh", "1",
            "-drop-threshold", "30", "-undershoot-pct", "100", "-overshoot-pct", "15", "-slices", "1", "-f", "ivf",
            output,
        ]
        let start = processorSeconds(RUSAGE_CHILDREN)
        try process.run()
        process.waitUntilExit()
        let seconds = processorSeconds(RUSAGE_CHILDREN) - start
        let film = try Data(contentsOf: URL(filePath: output))
        try FileManager.default.removeItem(atPath: output)
        // Of the file's header, and of each picture's.
        var (place, count) = (32, 0)
        while place + 12 <= film.count {
            let length = film[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            place += 12 + length
            count += 1
        }
        return Cost(seconds: seconds, count: count, bytes: film.count - 32 - 12 * count)
    }

    private static func processorSeconds(_ whose: __rusage_who) -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(whose.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
