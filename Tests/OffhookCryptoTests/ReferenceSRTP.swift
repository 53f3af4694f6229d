import COpenSSL
import OffhookCrypto

/// SRTP as RFC 3711, RFC 6188 and RFC 7714 write it down, with its keys in the open: the vectors of those RFCs are of session
/// keys, which nobody can give to libsrtp. What agrees with them and with `SRTPContext` ties the two together.
struct ReferenceSRTP {
    let isAEAD: Bool
    let tagLength: Int
    private let rtp: SessionKeys
    private let rtcp: SessionKeys

    struct SessionKeys {
        var cipher: [UInt8]
        var salt: [UInt8]
        var authentication: [UInt8]
    }

    init(suite: SRTPSuite, keyAndSalt: [UInt8]) {
        self.init(
            key: Array(keyAndSalt.prefix(suite.keyLength)), salt: Array(keyAndSalt.dropFirst(suite.keyLength)),
            tagLength: suite.tagLength)
    }

    init(key: [UInt8], salt: [UInt8], tagLength: Int) {
        isAEAD = salt.count == 12
        self.tagLength = tagLength
        rtp = Self.sessionKeys(key: key, salt: salt, firstLabel: 0)
        rtcp = Self.sessionKeys(key: key, salt: salt, firstLabel: 3)
    }

    /// RFC 3711 §4.3.1; the salts of AEAD have two bytes of zeros after them (RFC 7714 §11).
    static func sessionKeys(key: [UInt8], salt: [UInt8], firstLabel: UInt8) -> SessionKeys {
        func derive(_ label: UInt8, _ count: Int) -> [UInt8] {
            var block = salt + [UInt8](repeating: 0, count: 16 - salt.count)
            block[7] ^= label
            return keystream(key: key, counter: block, count: count)
        }
        return SessionKeys(
            cipher: derive(firstLabel, key.count), salt: derive(firstLabel + 2, salt.count),
            authentication: derive(firstLabel + 1, 20))
    }

    /// AES in counter mode (RFC 3711 §4.1.1, RFC 6188 §2): the last two bytes of the counter count blocks.
    static func keystream(key: [UInt8], counter: [UInt8], count: Int) -> [UInt8] {
        let names = [16: "AES-128-CTR", 24: "AES-192-CTR", 32: "AES-256-CTR"]
        return cipher(names[key.count] ?? "", key, counter, [UInt8](repeating: 0, count: count)).bytes
    }

    /// AES-GCM: the ciphertext with the tag of 16 bytes after it.
    static func seal(key: [UInt8], nonce: [UInt8], associated: [UInt8], plain: [UInt8]) -> [UInt8] {
        let sealed = cipher(key.count == 16 ? "AES-128-GCM" : "AES-256-GCM", key, nonce, plain, associated: associated)
        return sealed.bytes + sealed.tag
    }

    /// An RTP packet of a stream whose roll-over counter is this, without an MKI.
    func protectRTP(_ packet: [UInt8], rolloverCounter: UInt32 = 0) -> [UInt8] {
        let header = Self.headerLength(packet)
        let counter = Self.bigEndian(rolloverCounter)
        let body = Array(packet[header...])
        if isAEAD {
            let nonce = Self.xor([0, 0] + packet[8..<12] + counter + packet[2..<4], rtp.salt)
            return packet[..<header]
                + Self.seal(key: rtp.cipher, nonce: nonce, associated: Array(packet[..<header]), plain: body)
        }
        let index = [UInt8](repeating: 0, count: 4) + packet[8..<12] + counter + packet[2..<4] + [0, 0]
        let encrypted = Array(packet[..<header]) + encrypt(body, rtp, index)
        return encrypted + tag(encrypted + counter, rtp, tagLength)
    }

    /// A compound RTCP packet, encrypted, whose index is this; the tag is never the short one (RFC 4568 §6.2.2).
    func protectRTCP(_ packet: [UInt8], index: UInt32) -> [UInt8] {
        let word = Self.bigEndian(index | 1 << 31)
        let body = Array(packet[8...])
        if isAEAD {
            let nonce = Self.xor([0, 0] + packet[4..<8] + [0, 0] + Self.bigEndian(index), rtcp.salt)
            let associated = Array(packet[..<8]) + word
            return packet[..<8] + Self.seal(key: rtcp.cipher, nonce: nonce, associated: associated, plain: body) + word
        }
        let counter = [UInt8](repeating: 0, count: 4) + packet[4..<8] + [0, 0] + Self.bigEndian(index) + [0, 0]
        let encrypted = Array(packet[..<8]) + encrypt(body, rtcp, counter) + word
        return encrypted + tag(encrypted, rtcp, 10)
    }

    private func encrypt(_ body: [UInt8], _ keys: SessionKeys, _ index: [UInt8]) -> [UInt8] {
        let counter = Self.xor(keys.salt + [0, 0], index)
        return Self.xor(body, Self.keystream(key: keys.cipher, counter: counter, count: body.count))
    }

    private func tag(_ authenticated: [UInt8], _ keys: SessionKeys, _ count: Int) -> ArraySlice<UInt8> {
        MessageAuthentication.hmacSHA1(key: keys.authentication, message: authenticated).prefix(count)
    }

    private static func headerLength(_ packet: [UInt8]) -> Int {
        var length = 12 + 4 * Int(packet[0] & 0x0F)
        if packet[0] & 0x10 != 0 { length += 4 + 4 * (Int(packet[length + 2]) << 8 | Int(packet[length + 3])) }
        return length
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private static func xor(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }

    private static func cipher(
        _ name: String, _ key: [UInt8], _ vector: [UInt8], _ plain: [UInt8], associated: [UInt8] = []
    ) -> (bytes: [UInt8], tag: [UInt8]) {
        guard let algorithm = EVP_CIPHER_fetch(nil, name, nil), let context = EVP_CIPHER_CTX_new() else {
            return ([], [])
        }
        defer {
            EVP_CIPHER_CTX_free(context)
            EVP_CIPHER_free(algorithm)
        }
        var bytes = [UInt8](repeating: 0, count: plain.count)
        var count: Int32 = 0
        var tag = [UInt8](repeating: 0, count: 16)
        EVP_EncryptInit_ex2(context, algorithm, key, vector, nil)
        if !associated.isEmpty { EVP_EncryptUpdate(context, nil, &count, associated, Int32(associated.count)) }
        if !plain.isEmpty { EVP_EncryptUpdate(context, &bytes, &count, plain, Int32(plain.count)) }
        if name.hasSuffix("GCM") {
            var rest = [UInt8](repeating: 0, count: 16)
            EVP_EncryptFinal_ex(context, &rest, &count)
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
        }
        return (bytes, tag)
    }
}
