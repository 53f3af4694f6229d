/// The hashes that STUN's credentials need, supplied by whoever links a library of them.
package protocol MessageAuthenticator: Sendable {
    /// HMAC-SHA1 (RFC 2104): 20 bytes.
    func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8]
    /// HMAC-SHA256 (RFC 2104): 32 bytes.
    func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8]
    func md5(_ message: [UInt8]) -> [UInt8]
    func sha256(_ message: [UInt8]) -> [UInt8]
}
