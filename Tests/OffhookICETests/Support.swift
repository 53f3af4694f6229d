internal import OffhookCrypto
internal import OffhookICE

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
