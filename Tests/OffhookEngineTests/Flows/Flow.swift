import Foundation
import OffhookSIP

/// The messages of one RFC section, in order.
struct Flow {
    struct Message: Decodable {
        var label: String
        var raw: String
        var bodyOmitted: Bool?

        private enum CodingKeys: String, CodingKey {
            case label, raw
            case bodyOmitted = "body_omitted_in_rfc"
        }

        /// The number in the text, as in `F3`; nil where it has none.
        var number: String? {
            label.split(separator: " ").first.map(String.init).flatMap { $0.wholeMatch(of: /F\d+'*/) == nil ? nil : $0 }
        }

        /// Who sends it to whom, where the label tells.
        func goes(from name: String) -> Bool { ends.map { $0.from.lowercased().hasSuffix(name.lowercased()) } ?? false }
        func goes(to name: String) -> Bool {
            // Some are abbreviated to a letter.
            ends.map { $0.to.lowercased().hasPrefix(name.lowercased()) || ($0.to.count == 1 && name.hasPrefix($0.to)) }
                ?? false
        }

        private var ends: (from: String, to: String)? {
            guard let arrow = label.firstRange(of: /\s*-+>\s*/) else { return nil }
            return (String(label[..<arrow.lowerBound]), String(label[arrow.upperBound...]))
        }
    }

    private struct File: Decodable {
        var messages: [Message]
    }

    let messages: [Message]

    private static let folder = Bundle.module.bundleURL.appending(path: "Fixtures/Flows")

    init(_ name: String) throws {
        let data = try Data(contentsOf: Self.folder.appending(path: name + ".json"))
        messages = try JSONDecoder().decode(File.self, from: data).messages
    }

    /// The names of all files.
    static func all() throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return Set(files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) })
    }
}
