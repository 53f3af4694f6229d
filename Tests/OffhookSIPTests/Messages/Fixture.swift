import Foundation
import OffhookSIP

/// Files under `Fixtures/Messages`.
enum Fixture {
    struct Verdict: Decodable {
        var parse: String
        var status: [Int]?
        var mayAccept: Bool?
        var action: String?

        private enum CodingKeys: String, CodingKey {
            case parse, status, action
            case mayAccept = "may_accept"
        }
    }

    private static let root = Bundle.module.bundleURL.appending(path: "Fixtures/Messages")

    static func data(_ path: String) throws -> Data {
        try Data(contentsOf: root.appending(path: path))
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try data(path))
    }

    static func json<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: data(path))
    }

    /// Every file below the folder, sorted.
    static func files(under folder: String) -> [String] {
        let base = root.appending(path: folder)
        let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return names.filter {
            $0.hasSuffix(".dat") || $0.hasSuffix(".sip") || $0.contains("Fuzz") || $0.hasSuffix(".raw")
        }
        .sorted()
    }

    static let torture = files(under: "torture")
    static let stacks = files(under: "stacks")

    static func withCarriageReturns(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if byte == 10, result.last != 13 { result.append(13) }
            result.append(byte)
        }
        return result
    }

    /// All messages, accepted or not.
    static func everything() throws -> [[UInt8]] {
        try torture.map { try bytes("torture/\($0)") } + stacks.map { try bytes("stacks/\($0)") }
            + files(under: "fuzz").map { try bytes("fuzz/\($0)") }
            + files(under: "reports").map { try bytes("reports/\($0)") }
    }

    /// Those that read as messages.
    static func accepted() throws -> [SIPMessage] {
        try everything().compactMap { try? SIPMessage(parsing: $0) }
    }
}
