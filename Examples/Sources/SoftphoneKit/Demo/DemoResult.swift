import Foundation
import Offhook

/// What came of one call of the demo.
struct DemoResult: Sendable {
    /// What one end received and was told.
    struct Side: Sendable {
        let name: String
        let statistics: CallStatistics
        let pictures: PictureChecker.Findings
        let direction: MediaDirection?
        let tone: ToneDetector.Result?
    }

    let plan: DemoPlan
    let status: IncomingVideoStatus?
    let caller: Side
    let callee: Side
    let setup: Duration?
    var errors: [String]
    /// The tones that caller and callee sent, in hertz.
    let tones: (caller: Double, callee: Double)
    let duration: Duration

    /// What is not as it must be, in sentences.
    var faults: [String] {
        var faults = errors
        func expect(_ isAsItMustBe: Bool, _ fault: @autoclosure () -> String) {
            if !isAsItMustBe { faults.append(fault()) }
        }
        expect(
            status == plan.status, "the incoming status is \(status.map { "\($0)" } ?? "unknown"), not \(plan.status)")
        expect(
            callee.direction == plan.calleeDirection,
            "video is \(Self.word(callee.direction)) at the called side, not \(Self.word(plan.calleeDirection))")
        expect(
            caller.direction == plan.calleeDirection?.mirrored,
            "video is \(Self.word(caller.direction)) at the calling side, not \(Self.word(plan.calleeDirection?.mirrored))"
        )
        for (side, sent) in [(caller, tones.callee), (callee, tones.caller)] {
            let heard = side.tone.map { $0.share > 0.5 ? $0.frequency : 0 } ?? 0
            expect(abs(heard - sent) < 10, "\(side.name) hears \(Int(heard)) Hz instead of \(Int(sent)) Hz")
            expect(side.statistics.audio.received.encryptionSuite != nil, "\(side.name)'s sound is not encrypted")
            guard side.direction?.receives == true else { continue }
            expect(side.pictures.pictures > 0, "\(side.name) sees no picture")
            expect(
                side.pictures.readable * 10 >= side.pictures.pictures * 9,
                "\(side.name) can read \(side.pictures.readable) of \(side.pictures.pictures) picture numbers")
            expect(side.pictures.outOfOrder == 0, "\(side.name) sees \(side.pictures.outOfOrder) pictures out of order")
            expect(side.statistics.video.received.encryptionSuite != nil, "\(side.name)'s pictures are not encrypted")
        }
        return faults
    }

    private static func word(_ direction: MediaDirection?) -> String {
        direction.map { "\($0)" } ?? "off"
    }

    // MARK: Table

    static let heads = [
        "call", "to", "status", "direction", "codecs", "suite", "size", "fps", "video", "loss", "set-up",
        "latency 50/95 %",
    ]

    /// A row for what each end received.
    func rows(number: Int) -> [[String]] {
        [callee, caller].map { side in
            let video = side.direction?.receives == true
            let statistics = side.statistics
            let codecs = [statistics.audio.received.codec, video ? statistics.video.received.codec : nil]
            let seconds = max(duration.inSeconds, 0.001)
            let lost = statistics.audio.received.packetsLost + statistics.video.received.packetsLost
            let came = Int64(clamping: statistics.audio.received.packets + statistics.video.received.packets)
            let latency = [0.5, 0.95].map { side.pictures.latency(percentile: $0).map(Words.milliseconds) ?? "-" }
            return [
                "\(number)", side.name, side.name == callee.name ? status.map { "\($0)" } ?? "-" : "",
                Self.word(side.direction), codecs.compactMap(\.self).joined(separator: "+"),
                statistics.audio.received.encryptionSuite ?? "none",
                video ? side.pictures.size.map { "\($0)" } ?? "-" : "-",
                video ? String(format: "%.0f", side.pictures.frameRate) : "-",
                video ? Words.bitrate(Int(Double(statistics.video.received.bytes) * 8 / seconds)) : "-",
                Words.percent(Double(max(lost, 0)) / Double(max(came + max(lost, 0), 1))),
                setup.map(Words.milliseconds) ?? "-", video ? latency.joined(separator: " / ") : "-",
            ]
        }
    }

    /// Rows under their heads, in columns as wide as they must be.
    static func table(_ results: [DemoResult]) -> String {
        let rows = [heads] + results.enumerated().flatMap { $1.rows(number: $0 + 1) }
        let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
