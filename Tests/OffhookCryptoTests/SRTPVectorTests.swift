import OffhookBasics
import OffhookCrypto
import Testing

@Suite struct `SRTP vectors` {
    struct Vector: Sendable, CustomTestStringConvertible {
        var name: String
        var suite: SRTPSuite
        var key: String
        var identifier = ""
        var clear: String
        var protected: String
        var isRTCP = false
        var testDescription: String { name }
    }

    // The vectors of RFC 7714 give session keys, which nothing outside of libsrtp can set; those of libsrtp's
    // test/srtp_driver.c (BSD-3-Clause) go through the derivation of keys, as every call does.
    static let rtp = "800f1234decafbadcafebabeabababababababababababababababab"
    static let rtcp = "81c8000bcafebabeabababababababababababababababab"
    static let gcmKey = "000102030405060708090a0b0c0d0e0fa0a1a2a3a4a5a6a7a8a9aaab"
    static let driverKey = "e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6"

    static let bothWays = [
        Vector(
            name: "GCM, RTP", suite: .aeadAES128GCM, key: gcmKey, clear: rtp,
            protected: """
                800f1234 decafbad cafebabe c5002ede 04cfdd2e b91159e0 880aa06e d2976826 f796b201 df3131a1 27e8a392
                """),
        Vector(
            name: "GCM, RTCP", suite: .aeadAES128GCM, key: gcmKey, clear: rtcp,
            protected: """
                81c8000b cafebabe c98b8b5d f0392a55 852b6c21 ac8e7025 c52c6fbe a2b3b446 ea31123b a88ce61e 80000001
                """, isRTCP: true),
        Vector(
            name: "counter mode, RTP", suite: .aesCM128HMACSHA1Tag80, key: driverKey, clear: rtp,
            protected: "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"),
        Vector(
            name: "counter mode, MKI, RTP", suite: .aesCM128HMACSHA1Tag80, key: driverKey, identifier: "e1f97a0d",
            clear: rtp,
            protected: "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402e1f97a0db78d6acc99ea179b8dbb"),
        Vector(
            name: "counter mode, MKI, RTCP", suite: .aesCM128HMACSHA1Tag80, key: driverKey, identifier: "e1f97a0d",
            clear: rtcp,
            protected: "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001e1f97a0d993e08cd54d6c1230798",
            isRTCP: true),
    ]

    @Test(arguments: bothWays) func `come out in both directions`(_ vector: Vector) throws {
        let keys = try #require(
            SRTPKeys(
                suite: vector.suite, keyAndSalt: bytes(vector.key), masterKeyIdentifier: bytes(vector.identifier)))
        let context = try SRTPContext(outbound: keys, inbound: keys)

        let outbound = packet(bytes(vector.clear))
        let inbound = packet(bytes(vector.protected))
        if vector.isRTCP {
            try context.protectRTCP(outbound)
            try context.unprotectRTCP(inbound)
        } else {
            try context.protectRTP(outbound)
            try context.unprotectRTP(inbound)
        }

        #expect(outbound.content == bytes(vector.protected))
        #expect(inbound.content == bytes(vector.clear))
    }
}
