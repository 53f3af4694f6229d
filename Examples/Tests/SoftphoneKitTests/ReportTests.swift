import Foundation
import Offhook
import Testing

@testable import SoftphoneKit

@Suite struct `A report` {
    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UUID().uuidString)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A line as `--stats` writes it.
    private func sample(at time: Double, call: String = "call-1") -> String {
        var stream = StreamStatistics()
        stream.codec = "vp8"
        stream.bitrate = 500_000
        stream.packets = 10
        let media = JSONValue.object(["sent": JSONValue(stream), "received": JSONValue(StreamStatistics())])
        return JSONValue.object([
            "time": .number(time), "call": .text(call), "state": "established", "quality": "good", "audio": media,
            "video": media,
        ]).line
    }

    @Test func `what the program samples can be read and plotted`() throws {
        let path = try file((1...5).map { sample(at: Double($0)) }.joined(separator: "\n") + "\n")
        defer { try? FileManager.default.removeItem(atPath: path) }

        let samples = try StatisticsSample.read(path: path)
        let html = ReportPage(title: "<b>", samples: samples).html

        #expect(samples.count == 5)
        #expect(html.contains("&lt;b&gt;") && !html.contains("<b>"))
        #expect(html.contains("Video bitrate"))
        #expect(html.components(separatedBy: "<polyline").count > 3)
        #expect(!html.contains("http"), "the page is whole in itself")
    }

    /// Seconds of a call whose picture shrinks, stands still and gets worse.
    @Test func `what happened stands on a time line`() throws {
        func line(_ time: Double, height: Int, frozen: Duration, concealed: UInt64, quality: QualityLevel) -> String {
            var picture = StreamStatistics()
            picture.codec = "vp8"
            picture.packets = 10
            picture.size = VideoSize(width: height * 16 / 9, height: height)
            picture.frozenDuration = frozen
            picture.quality = quality
            var sound = StreamStatistics()
            sound.codec = "opus"
            sound.packets = 10
            sound.samples = UInt64(time * 48_000)
            sound.concealedSamples = concealed
            func media(_ stream: StreamStatistics) -> JSONValue {
                .object(["sent": JSONValue(StreamStatistics()), "received": JSONValue(stream)])
            }
            return JSONValue.object([
                "time": .number(time), "call": "call-1", "state": "established", "quality": "good",
                "audio": media(sound),
                "video": media(picture),
            ]).line
        }
        let path = try file(
            [
                line(1, height: 360, frozen: .zero, concealed: 0, quality: .good),
                line(2, height: 360, frozen: .milliseconds(400), concealed: 4_800, quality: .good),
                line(3, height: 180, frozen: .milliseconds(400), concealed: 4_800, quality: .poor),
            ].joined(separator: "\n"))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let timeline = Timeline(try StatisticsSample.read(path: path))

        #expect(
            timeline.events.map(\.text) == [
                "established", "the picture stands still: 0.4 s", "video received: 320x180", "video received is poor",
            ])
        #expect(timeline.freezes == [1.6...2])
        #expect(timeline.concealed == [2: 10, 3: 0])
    }

    @Test func `a last line that was cut off is left out`() throws {
        let path = try file(sample(at: 1) + "\n" + sample(at: 2).prefix(40))
        defer { try? FileManager.default.removeItem(atPath: path) }

        #expect(try StatisticsSample.read(path: path).count == 1)
    }

    @Test(arguments: ["", "hello", "{}\n{}"])
    func `a file of something else is refused`(text: String) throws {
        let path = try file(text)
        defer { try? FileManager.default.removeItem(atPath: path) }

        #expect(throws: FileFailure.self) { try StatisticsSample.read(path: path) }
    }

    @Test(arguments: ["/tmp", "/dev/null", "/nonexistent/file"])
    func `what is no file of samples is refused in a sentence`(path: String) {
        #expect { try StatisticsSample.read(path: path) } throws: { error in
            (error as? FileFailure).map { $0.description.hasPrefix(path) && !$0.description.contains("ioctl") } ?? false
        }
    }

    @Test func `gaps stay gaps`() {
        let runs = Plot.runs(of: [1, nil, nil, 2, 3, nil], at: [0, 1, 2, 3, 4, 5])

        #expect(runs.map { $0.map(\.value) } == [[1], [2, 3]])
    }

    @Test(arguments: [(0.0, 1.0), (0.3, 0.4), (1, 1), (3, 4), (730, 800), (801, 1000), (2000, 2000)])
    func `axes end at round numbers`(value: Double, ceiling: Double) {
        #expect(abs(Plot.ceiling(above: value) - ceiling) < 1e-9)
    }
}

@Suite struct `Keys of the phone` {
    @Test func `each has one meaning and the help lists it`() {
        #expect(Set(PhoneKey.all.map(\.key)).count == PhoneKey.all.count)
        for entry in PhoneKey.all { #expect(PhoneKey.helpText.contains("  \(entry.key)  ")) }
    }

    @Test func `v answers a ringing call and switches the video of one that is up`() {
        #expect(PhoneKey("v", isRinging: true) == .answerWithVideo)
        #expect(PhoneKey("v", isRinging: false) == .video)
        #expect(PhoneKey("t", isRinging: true) == .redirect)
        #expect(PhoneKey("t", isRinging: false) == .transfer)
        #expect(PhoneKey("5", isRinging: false) == .tone("5"))
        #expect(PhoneKey("~", isRinging: false) == nil)
    }
}
