import Offhook
import OffhookTestKit
import Testing

@Suite struct `Conformance checks` {
    /// The rules that a faulty object is caught breaking.
    private func caught<Subject>(
        _ checks: [ConformanceCheck<Subject>], _ make: @Sendable () -> Subject
    ) async -> [String] {
        var broken: [String] = []
        await Patience.$limit.withValue(0.5) {
            for check in checks {
                do { try await check(make()) } catch { broken.append(check.name) }
            }
        }
        return broken
    }

    @Test(arguments: VideoSinkConformance.checks(for: FaultySink.self))
    func `a sound video sink passes`(_ check: ConformanceCheck<FaultySink>) async throws {
        try await check(FaultySink(.none))
    }

    @Test(arguments: AudioSinkConformance.checks(for: FaultySink.self))
    func `a sound audio sink passes`(_ check: ConformanceCheck<FaultySink>) async throws {
        try await check(FaultySink(.none))
    }

    @Test(arguments: VideoCapturerConformance.checks(for: FaultyCapturer.self))
    func `a sound video capturer passes`(_ check: ConformanceCheck<FaultyCapturer>) async throws {
        try await check(FaultyCapturer(.none))
    }

    @Test(arguments: AudioCapturerConformance.checks(for: FaultyCapturer.self))
    func `a sound audio capturer passes`(_ check: ConformanceCheck<FaultyCapturer>) async throws {
        try await check(FaultyCapturer(.none))
    }

    @Test(arguments: [
        ("in time", FaultySink.Fault.slow),
        ("odd sizes", .stuckOn { $0.width % 2 == 1 }),
        ("size changes", .stuckOn { $0.width == 91 }),
        ("pixel formats", .stuckOn { $0.pixelFormat == .nv12 }),
        ("rotation", .stuckOn { $0.rotation == .half }),
        ("threads", .stuckAtNumber(8)),
        ("gaps", .stuckOn { $0.captureTime.nanoseconds > 3_600_000_000_000 }),
        ("untouched pixels", .writing),
        ("borrowed pictures", .keeping),
        ("letting go", .holdingItself),
    ])
    func `a faulty video sink is caught`(rule: String, fault: FaultySink.Fault) async throws {
        let checks = VideoSinkConformance.checks(for: FaultySink.self).filter { $0.name == rule }

        let broken = await caught(checks) { FaultySink(fault) }

        #expect(broken == [rule])
    }

    @Test(arguments: [
        ("in time", FaultySink.Fault.slow),
        ("sampling rates", .stuckOnSound { $0.sampleRate == 16000 }),
        ("channels", .stuckOnSound { $0.channelCount == 2 }),
        ("frame lengths", .stuckOnSound { $0.samples.isEmpty }),
        ("loudness", .stuckOnSound { $0.samples.first == .min }),
        ("threads", .stuckAtNumber(8)),
        ("gaps", .stuckOnSound { $0.captureTime.nanoseconds > 30_000_000_000 }),
        ("letting go", .holdingItself),
    ])
    func `a faulty audio sink is caught`(rule: String, fault: FaultySink.Fault) async throws {
        let checks = AudioSinkConformance.checks(for: FaultySink.self).filter { $0.name == rule }

        let broken = await caught(checks) { FaultySink(fault) }

        #expect(broken == [rule])
    }

    @Test(arguments: [
        ("delivers", FaultyCapturer.Fault.silent),
        ("one at a time", .twoAtOnce),
        ("capture times", .sameTime),
        ("restart", .stopsForGood),
        ("idle", .stuckWhenIdle),
        ("detached", .goesOnAfterDetach),
        ("switching", .goesOnAfterSwitch),
        ("detaching waits", .doesNotWait),
        ("detached sinks", .holdsSinks),
        ("letting go", .holdsItself),
        ("kept pictures", .rewritesPictures),
    ])
    func `a faulty video capturer is caught`(rule: String, fault: FaultyCapturer.Fault) async throws {
        let checks = VideoCapturerConformance.checks(for: FaultyCapturer.self).filter { $0.name == rule }

        let broken = await caught(checks) { FaultyCapturer(fault) }

        #expect(broken == [rule])
    }

    @Test(arguments: [
        ("frame length", FaultyCapturer.Fault.shortFrames), ("detached", .goesOnAfterDetach), ("delivers", .silent),
    ])
    func `a faulty audio capturer is caught`(rule: String, fault: FaultyCapturer.Fault) async throws {
        let checks = AudioCapturerConformance.checks(for: FaultyCapturer.self).filter { $0.name == rule }

        let broken = await caught(checks) { FaultyCapturer(fault) }

        #expect(broken == [rule])
    }

    @Test func `every rule has a line of its own`() {
        let checks = VideoCapturerConformance.checks(for: FaultyCapturer.self)

        #expect(Set(checks.map(\.description)).count == checks.count)
        #expect(checks.allSatisfy { $0.rule.hasSuffix(".") })
    }

    @Test func `a failure tells rule and observation in one line`() async throws {
        let checks = VideoCapturerConformance.checks(for: FaultyCapturer.self)
        let check = try #require(checks.first { $0.name == "capture times" })

        let failure = await #expect(throws: ConformanceFailure.self) { try await check(FaultyCapturer(.sameTime)) }

        let line = try #require(failure).description
        #expect(line.hasPrefix("capture times: Delivers pictures in the order of their capture times, each once. But "))
        #expect(!line.contains("\n"))
    }
}
