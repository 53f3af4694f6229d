import OffhookCrypto
import Testing

@Suite struct `SRTP keys` {
    @Test(arguments: SRTPSuite.allCases) func `are as long as their suite wants, and never the same`(
        _ suite: SRTPSuite
    ) {
        let keys = SRTPKeys.random(suite: suite)
        #expect(keys.keyAndSalt.count == suite.keyLength + suite.saltLength)
        #expect(keys != SRTPKeys.random(suite: suite))
        #expect(SRTPSuite(sdesName: suite.sdesName.lowercased()) == suite)
    }

    @Test(arguments: SRTPSuite.allCases) func `read back what they write`(_ suite: SRTPSuite) throws {
        var keys = SRTPKeys.random(suite: suite)
        #expect(SRTPKeys(suite: suite, inline: keys.inlineParameter) == keys)
        keys.masterKeyIdentifier = [0, 255, 1]
        #expect(keys.inlineParameter.hasSuffix("|65281:3"))
        #expect(SRTPKeys(suite: suite, inline: keys.inlineParameter) == keys)
    }

    static let key = "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"

    @Test(
        arguments: [
            // RFC 4568 §9.1 and §6.1.
            ("inline:\(key)|2^20|1:32", 32, 1), ("inline:\(key)|2^31", 0, 0), ("inline:\(key)", 0, 0),
            ("inline:\(key)|1066:4", 4, 42), ("INLINE:\(key)|1048576", 0, 0), (key, 0, 0),
        ] as [(String, Int, UInt8)]) func `are read from an attribute`(_ text: String, _ length: Int, _ last: UInt8)
        throws
    {
        let keys = try #require(SRTPKeys(suite: .aesCM128HMACSHA1Tag80, inline: text))
        #expect(keys.keyAndSalt == Base64.decode(Self.key))
        #expect(keys.masterKeyIdentifier.count == length)
        #expect((keys.masterKeyIdentifier.last ?? 0) == last)
    }

    @Test(arguments: [
        "", "inline:", "inline:AAAA", "inline:\(key)|", "inline:\(key)|x", "inline:\(key)|1:0", "inline:\(key)|1:129",
        "inline:\(key)|256:1", "inline:\(key)|1:1|2^20", "inline:\(key)|a:1", "inline:\(key)|2^20|1:1|9",
        "inline:\(key)|2^20|1:1;inline:\(key)|2^20|2:1", "inline:\(key)|-1:1", "inline:\(key)|:1",
    ]) func `are not read from what is wrong`(_ text: String) {
        #expect(SRTPKeys(suite: .aesCM128HMACSHA1Tag80, inline: text) == nil)
    }

    @Test func `know AES-256 by both of its names`() {
        #expect(SRTPSuite(sdesName: "AES_CM_256_HMAC_SHA1_80") == .aesCM256HMACSHA1Tag80)
        #expect(SRTPSuite(sdesName: "AES_256_CM_HMAC_SHA1_32") == .aesCM256HMACSHA1Tag32)
        #expect(SRTPSuite(sdesName: "F8_128_HMAC_SHA1_80") == nil)
    }

    // RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]) func `are written in base64`(_ clear: String, _ encoded: String) {
        #expect(Base64.encode(Array(clear.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(clear.utf8))
        #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(clear.utf8))
    }

    @Test(arguments: ["A", "AAAA=", "A===", "AA-_", "Zg=", "Z=g=", "Zg==Zg=="]) func `are not read from bad base64`(
        _ text: String
    ) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `and seeds are not the same twice`() {
        #expect(SecureRandom.seed() != SecureRandom.seed())
        #expect(SecureRandom.bytes(32).count == 32)
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
    }
}
