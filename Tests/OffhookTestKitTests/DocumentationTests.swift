import FoundationEssentials
import Testing

@Suite struct `Code in the documentation` {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The pages, by their paths within the checkout.
    private static let pages: [String] = {
        let folder = root.appending(path: "DocC/Offhook.docc")
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path())) ?? []
        let articles = found.filter { $0.hasSuffix(".md") }
        return ["README.md"] + articles.sorted().map { "DocC/Offhook.docc/\($0)" } + sources
    }()

    /// Sources whose documentation comments have examples.
    private static let sources = [
        "Sources/Offhook/Public/Client.swift", "Sources/OffhookDevices/Camera/V4L2Capturer.swift",
        "Sources/OffhookDevices/Screen/ScreenCapturer.swift", "Sources/OffhookDevices/Screen/SDLRenderer.swift",
        "Sources/OffhookMedia/VideoSplitter.swift", "Sources/OffhookTestKit/Conformance/CallDelegateConformance.swift",
        "Sources/OffhookTestKit/Conformance/ConformanceCheck.swift",
        "Sources/OffhookTestKit/Exchange/LocalExchange.swift", "Sources/OffhookTestKit/Network/SimulatedNetwork.swift",
    ]

    /// All that is compiled, without indentation.
    private static let compiled: String = {
        let paths = [
            "Tests/OffhookTests/PrintedFlow.swift", "Tests/OffhookTestKitTests/Snippets/CallSnippets.swift",
            "Tests/OffhookTestKitTests/Snippets/MediaSnippets.swift",
            "Tests/OffhookTestKitTests/Snippets/TestingSnippets.swift",
            "Tests/Consumer/Package/Sources/Door/main.swift",
        ]
        return paths.map { path in
            plain((try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? "")
        }.joined(separator: "\n")
    }()

    private static func plain(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }
            .joined(separator: "\n")
    }

    /// The blocks that a page says are Swift.
    private func blocks(of page: String) throws -> [String] {
        var text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
        if page.hasSuffix(".swift") { text = text.replacing("/// ", with: "").replacing("///\n", with: "\n") }
        var blocks: [String] = []
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                block = []
            } else if line == "```", let lines = block {
                blocks.append(Self.plain(lines.joined(separator: "\n")))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    @Test(arguments: pages) func `is compiled as it is printed`(page: String) throws {
        for block in try blocks(of: page) {
            let isCompiled = Self.compiled.contains(block)
            #expect(isCompiled, "\(page) prints code that no test compiles:\n\(block)")
        }
    }

    @Test func `is there`() throws {
        #expect(Self.pages.count > 9)
        #expect(try Self.pages.flatMap { try blocks(of: $0) }.count > 15)
    }
}
