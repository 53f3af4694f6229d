import Foundation

/// One line of a file that `--stats` wrote: the figures that the report plots.
struct StatisticsSample: Decodable, Sendable {
    struct Media: Decodable, Sendable {
        var sent: Stream
        var received: Stream
    }

    struct Stream: Decodable, Sendable {
        var codec: String?
        var packets: Double
        var bytes: Double
        var bitrate: Double
        var targetBitrate: Double
        var lost: Double
        var lossFraction: Double
        var jitter: Double
        var roundTrip: Double?
        var jitterBufferDelay: Double
        var frames: Double
        var frameRate: Double
        var freezes: Double
        var frozenSeconds: Double
        var keyFrames: Double
        var repaired: Double
        var concealedSamples: Double
        var samples: Double
        var relayed: Bool
        var remote: String?
        var width: Double?
        var height: Double?
        var encrypted: String?
        var quality: String
    }

    var time: Double
    var call: String
    var state: String
    var audio: Media
    var video: Media

    /// Reads a whole file; a last line that was cut off is left out.
    static func read(path: String) throws(FileFailure) -> [StatisticsSample] {
        let text = try InputText.read(path, limit: 1 << 30)
        let lines = text.split(whereSeparator: \.isNewline)
        var samples: [StatisticsSample] = []
        for (index, line) in lines.enumerated() {
            do {
                samples.append(try JSONDecoder().decode(StatisticsSample.self, from: Data(line.utf8)))
            } catch {
                guard index == lines.count - 1, !samples.isEmpty else {
                    throw FileFailure("\(path): line \(index + 1) is no sample; give a file that --stats wrote")
                }
            }
        }
        guard !samples.isEmpty else { throw FileFailure("\(path) has no samples; give a file that --stats wrote") }
        return samples
    }
}
