import Foundation
import Offhook
import Testing

@testable import SoftphoneKit

@MainActor @Suite struct `Event lines` {
    @Test func `each has time, event and call, in that order`() {
        var lines: [String] = []
        let start = Instant(nanoseconds: 5_000_000_000)
        let writer = EventWriter(start: start) { lines.append($0) }

        writer.write("registration", at: start + .milliseconds(1500), ["state": "registered"])

        #expect(lines == [#"{"time":1.5,"event":"registration","call":null,"state":"registered"}"#])
        #expect(writer.lastEvent == "registration")
    }

    @Test func `whatever a far end calls itself makes one valid line`() throws {
        let name = "a\"b\\c\nd\u{1}é\u{2028}"
        let line = JSONValue.object([
            "name": .text(name), "rate": .number(.nan), "list": .list([.integer(1), nil, true]),
        ]).line

        #expect(!line.contains("\n"))
        let read = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(read["name"] as? String == name)
        #expect(read["rate"] is NSNull)
        #expect((read["list"] as? [Any])?.count == 3)
    }

    @Test(arguments: [(0.0, "0"), (2.0, "2"), (0.0000012, "1e-06"), (33.333333333, "33.333333"), (-1.5, "-1.5")])
    func `numbers have six decimals at most`(number: Double, text: String) {
        #expect(JSONValue.number(number).line == text)
    }

    @Test func `a summary has every figure of the contract each way`() {
        let line = JSONValue(summaryOf: MediaStatistics()).line

        for name in [
            "codec", "packets", "bytes", "lost", "frames", "width", "height", "jitter", "roundTrip", "encrypted",
            "frozenSeconds", "keyFrames",
        ] {
            #expect(line.components(separatedBy: "\"\(name)\":").count == 3, "\(name) is there for both ways")
        }
    }
}

@Suite struct `The exit status` {
    @Test(arguments: [
        (true, CallEndReason.ended(by: .local), SoftphoneKit.ExitStatus.success), (true, .ended(by: .remote), .success),
        (true, .mediaTimeout, .callFailed), (false, .busy, .callFailed), (false, .ended(by: .local), .callFailed),
    ])
    func `tells what a call amounts to`(established: Bool, reason: CallEndReason, status: SoftphoneKit.ExitStatus) {
        #expect(SoftphoneKit.ExitStatus.status(established: established, reason: reason) == status)
    }

    @Test func `numbers are those of the contract`() {
        let all: [SoftphoneKit.ExitStatus] = [
            .success, .usage, .notRegistered, .callFailed, .deviceFailed, .interrupted,
        ]

        #expect(all.map(\.rawValue) == [0, 2, 3, 4, 5, 130])
    }
}
