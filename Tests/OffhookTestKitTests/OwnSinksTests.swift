import FoundationEssentials
import Glibc
import Offhook
import OffhookTestKit
import Testing

@Suite struct `Our own sinks keep the rules` {
    @Test(arguments: VideoSinkConformance.checks(for: NullVideoSink.self))
    func null(_ check: ConformanceCheck<NullVideoSink>) async throws { try await check(NullVideoSink()) }

    @Test(arguments: VideoSinkConformance.checks(for: FileRenderer.self), ["y4m", "png"])
    func file(_ check: ConformanceCheck<FileRenderer>, kind: String) async throws {
        try await withTemporaryFile("\(kind)") { path in try await check(FileRenderer(path: path)) }
    }

    @Test(arguments: VideoSinkConformance.checks(for: TerminalRenderer.self))
    func terminal(_ check: ConformanceCheck<TerminalRenderer>) async throws {
        let nowhere = open("/dev/null", O_WRONLY)
        defer { close(nowhere) }
        var configuration = TerminalConfiguration()
        configuration.descriptor = nowhere
        try await check(TerminalRenderer(configuration: configuration))
    }

    @Test(arguments: VideoSinkConformance.checks(for: VideoSplitter.self))
    func splitter(_ check: ConformanceCheck<VideoSplitter>) async throws {
        try await check(VideoSplitter([NullVideoSink(), NullVideoSink()]))
    }

    @Test(arguments: AudioSinkConformance.checks(for: NullAudioSink.self))
    func null(_ check: ConformanceCheck<NullAudioSink>) async throws { try await check(NullAudioSink()) }

    @Test(arguments: AudioSinkConformance.checks(for: WAVRecorder.self))
    func recorder(_ check: ConformanceCheck<WAVRecorder>) async throws {
        try await withTemporaryFile("wav") { path in try await check(WAVRecorder(path: path)) }
    }

    @Test(arguments: AudioSinkConformance.checks(for: AudioSplitter.self))
    func splitter(_ check: ConformanceCheck<AudioSplitter>) async throws {
        try await check(AudioSplitter([NullAudioSink()]))
    }
}

@Suite struct `Our own capturers keep the rules` {
    @Test(arguments: VideoCapturerConformance.checks(for: TestPatternCapturer.self))
    func pattern(_ check: ConformanceCheck<TestPatternCapturer>) async throws {
        try await check(TestPatternCapturer(size: VideoSize(width: 160, height: 120), frameRate: 120))
    }

    @Test(arguments: VideoCapturerConformance.checks(for: FileCapturer.self))
    func file(_ check: ConformanceCheck<FileCapturer>) async throws {
        try await withTemporaryFile("y4m") { path in
            var content = Data("YUV4MPEG2 W32 H16 F100:1 C420\n".utf8)
            for number in 0..<4 { content += Data("FRAME\n".utf8) + Data(repeating: UInt8(number), count: 768) }
            try content.write(to: URL(filePath: path))
            try await check(FileCapturer(path: path))
        }
    }

    @Test(arguments: AudioCapturerConformance.checks(for: ToneCapturer.self))
    func tone(_ check: ConformanceCheck<ToneCapturer>) async throws { try await check(ToneCapturer()) }

    @Test(arguments: AudioCapturerConformance.checks(for: SilenceCapturer.self))
    func silence(_ check: ConformanceCheck<SilenceCapturer>) async throws { try await check(SilenceCapturer()) }
}

/// Lends the path of a file that is gone afterwards.
func withTemporaryFile(_ kind: String, _ body: (String) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "offhook-\(UUID().uuidString).\(kind)").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await body(path)
}
