import Foundation
import Offhook

/// Figures in words for people.
enum Words {
    static func seconds(_ duration: Duration) -> String {
        let seconds = Int(duration.inSeconds)
        return String(format: "%d:%02d", seconds / 60, seconds % 60)
    }

    static func bitrate(_ bits: Int) -> String {
        bits >= 1_000_000 ? String(format: "%.1f Mbit/s", Double(bits) / 1e6) : "\(bits / 1000) kbit/s"
    }

    static func percent(_ fraction: Double) -> String {
        String(format: "%.1f %%", fraction * 100)
    }

    static func milliseconds(_ duration: Duration) -> String {
        String(format: "%.0f ms", duration.inMilliseconds)
    }

    /// How a call ended.
    static func end(_ reason: CallEndReason) -> String {
        switch reason.cause {
        case .ended(by: .local): "we hung up"
        case .ended(by: .remote): "the far end hung up"
        case .cancelled: "the caller gave up"
        case .declined: "it was declined"
        case .busy: "busy"
        case .noAnswer: "nobody answered"
        case .answeredElsewhere: "it was answered elsewhere"
        case .declinedElsewhere: "it was declined elsewhere"
        case .transferred: "the far end was transferred"
        case .replaced: "another call took its place"
        case .mediaTimeout: "no more sound or pictures came"
        case .signalingLost: "the way to the far end was lost"
        case .failed(let error): "it failed (\(error.code))"
        }
    }

    /// The live line of a call: time, then sound and pictures each way, loss, and quality.
    static func line(for statistics: CallStatistics, of call: Call) -> String {
        var parts = ["\(seconds(statistics.establishedDuration))  \(call.state)\(call.isAudioMuted ? ", muted" : "")"]
        parts.append("sound " + media(statistics.audio))
        if call.videoChannels.contains(where: \.isEnabled) { parts.append("video " + media(statistics.video)) }
        let loss = max(statistics.audio.received.lossFraction, statistics.video.received.lossFraction)
        parts.append("loss \(percent(loss))")
        if statistics.quality != .unknown { parts.append("\(statistics.quality)") }
        return parts.joined(separator: " | ")
    }

    private static func media(_ media: MediaStatistics) -> String {
        guard let codec = media.received.codec ?? media.sent.codec else { return "none" }
        let up = "↑\(bitrate(media.sent.bitrate))\(pictures(media.sent))"
        let down = "↓\(bitrate(media.received.bitrate))\(pictures(media.received))"
        return "\(codec) \(up) \(down)"
    }

    private static func pictures(_ stream: StreamStatistics) -> String {
        guard let size = stream.size else { return "" }
        return " \(size)@\(Int(stream.frameRate.rounded()))"
    }
}
