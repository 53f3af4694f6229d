import Foundation
import OffhookBasics
import OffhookCrypto
import OffhookICE
import Testing

/// The hashes of OffhookCrypto, as an agent takes them.
struct Authenticator: MessageAuthenticator {
    func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        MessageAuthentication.hmacSHA1(key: key, message: message)
    }

    func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        MessageAuthentication.hmacSHA256(key: key, message: message)
    }

    func md5(_ message: [UInt8]) -> [UInt8] {
        MessageAuthentication.md5(message)
    }

    func sha256(_ message: [UInt8]) -> [UInt8] {
        MessageAuthentication.sha256(message)
    }
}

/// The bytes of a file under Fixtures.
func fixture(_ path: String) throws -> [UInt8] {
    let url = try #require(Bundle.module.url(forResource: "Fixtures/\(path)", withExtension: nil))
    return [UInt8](try Data(contentsOf: url))
}

func fixtures(in folder: String) throws -> [[UInt8]] {
    let url = try #require(Bundle.module.url(forResource: "Fixtures/\(folder)", withExtension: nil))
    return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
        .map { try fixture("\(folder)/\($0)") }
}

extension STUNMessage {
    init(_ bytes: [UInt8]) throws(STUNParseError) {
        let parsed = bytes.withUnsafeBytes { bytes in
            Result<STUNMessage, STUNParseError> { () throws(STUNParseError) in try STUNMessage(parsing: bytes.bytes) }
        }
        self = try parsed.get()
    }

    static func isSigned(_ bytes: [UInt8], key: STUNKey) -> Bool {
        bytes.withUnsafeBytes { isSigned($0.bytes, key: key, authenticator: Authenticator()) }
    }
}

extension Endpoint {
    /// An endpoint from text that is known to be one.
    init(_ text: String) {
        guard let endpoint = Endpoint(parsing: text) else { fatalError("\(text) is no endpoint") }
        self = endpoint
    }
}

/// Text of two hexadecimal digits a byte.
func bytes(hexadecimal text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
