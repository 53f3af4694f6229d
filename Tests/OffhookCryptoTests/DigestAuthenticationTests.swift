import OffhookCrypto
import Testing

@Suite struct `Digest authentication` {
    struct Answer: Sendable, CustomTestStringConvertible {
        var source: String
        var algorithm: String?
        var username: String
        var realm: String
        var password: String
        var method: String
        var uri: String
        var nonce: String
        var protection: QualityOfProtection?
        var clientNonce = ""
        var response: String
        var testDescription: String { source }
    }

    static let rfc7616Nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    static let rfc7616ClientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    static let answers = [
        Answer(
            source: "RFC 2617 3.5", algorithm: "MD5", username: "Mufasa", realm: "testrealm@host.com",
            password: "Circle Of Life", method: "GET", uri: "/dir/index.html",
            nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093", protection: .auth, clientNonce: "0a4f113b",
            response: "6629fae49393a05397450978507c4ef1"),
        Answer(
            source: "RFC 7616 3.9.1 SHA-256", algorithm: "SHA-256", username: "Mufasa", realm: "http-auth@example.org",
            password: "Circle of Life", method: "GET", uri: "/dir/index.html", nonce: rfc7616Nonce, protection: .auth,
            clientNonce: rfc7616ClientNonce,
            response: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        Answer(
            source: "RFC 7616 3.9.1 MD5", algorithm: nil, username: "Mufasa", realm: "http-auth@example.org",
            password: "Circle of Life", method: "GET", uri: "/dir/index.html", nonce: rfc7616Nonce, protection: .auth,
            clientNonce: rfc7616ClientNonce, response: "8ca523f5e9506fed4657c9700eebdbec"),
        Answer(
            source: "JsSIP, without qop", algorithm: "md5", username: "testuser", realm: "testrealm@host.com",
            password: "testpassword", method: "REGISTER", uri: "sip:testrealm@host.com",
            nonce: "5a071f75353f667787615249c62dcc7b15a4828f", protection: nil,
            response: "f99e05f591f147facbc94ff23b4b1dee"),
        Answer(
            source: "JsSIP, auth-int with an empty body", algorithm: "MD5", username: "testuser",
            realm: "testrealm@host.com", password: "testpassword", method: "REGISTER", uri: "sip:testrealm@host.com",
            nonce: "5a071f75353f667787615249c62dcc7b15a4828f", protection: .authInt, clientNonce: "0a4f113b",
            response: "82b3cab8b1c4df404434db6a0581650c"),
        Answer(
            source: "RFC 2069 example, with the value of its erratum 749", algorithm: "MD5", username: "Mufasa",
            realm: "testrealm@host.com", password: "CircleOfLife", method: "GET", uri: "/dir/index.html",
            nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093", protection: nil,
            response: "1949323746fe6a43ef61f9606e7febea"),
        // RFC 7616 §3.9.2 with the UTF-8 name in the clear; the response is as RFC erratum 4897 computes it.
        Answer(
            source: "RFC 7616 3.9.2 SHA-512-256", algorithm: "SHA-512-256", username: "J\u{E4}s\u{F8}n Doe",
            realm: "api@example.org", password: "Secret, or not?", method: "GET", uri: "/doe.json",
            nonce: "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", protection: .auth,
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v",
            response: "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"),
    ]

    @Test(arguments: answers) func `computes known responses`(_ answer: Answer) throws {
        let digest = try #require(
            DigestAuthentication(algorithm: answer.algorithm, realm: answer.realm, nonce: answer.nonce))
        let response = digest.response(
            username: answer.username, password: answer.password, method: answer.method, uri: answer.uri,
            protection: answer.protection, clientNonce: answer.clientNonce)
        #expect(response == answer.response)
    }

    // RFC 7616 §3.4.2: for -sess the secret is hashed once more with both nonces.
    @Test func `hashes the nonces into a session's secret`() {
        let plain = DigestAuthentication(algorithm: .sha256, isSession: false, realm: "r", nonce: "n")
        let session = DigestAuthentication(algorithm: .sha256, isSession: true, realm: "r", nonce: "n")
        let secret = DigestAuthentication.storedSecret(username: "u", realm: "r", password: "p", algorithm: .sha256)
        let sessionSecret = DigestAlgorithm.sha256.hexadecimalHash("\(secret):n:c".utf8)

        let response = session.response(
            username: "u", password: "p", method: "INVITE", uri: "sip:x", protection: .auth, clientNonce: "c")

        #expect(session.algorithmName == "SHA-256-sess")
        #expect(
            response
                == plain.response(
                    storedSecret: sessionSecret, method: "INVITE", uri: "sip:x", protection: .auth, clientNonce: "c",
                    nonceCount: "00000001"))
    }

    @Test func `covers the body with auth-int alone`() {
        let digest = DigestAuthentication(realm: "r", nonce: "n")
        func response(_ protection: QualityOfProtection, _ body: String) -> String {
            digest.response(
                username: "u", password: "p", method: "INVITE", uri: "sip:x", protection: protection, clientNonce: "c",
                body: Array(body.utf8))
        }
        #expect(response(.authInt, "a") != response(.authInt, "b"))
        #expect(response(.auth, "a") == response(.auth, "b"))
    }

    // R123: RFC 7616 §3.4.
    @Test(
        arguments: [
            ("auth, auth-int", .auth), ("auth-int,auth", .auth), ("auth-int", .authInt), ("AUTH", .auth),
            ("token", nil), ("", nil), (nil, nil), ("\"auth-int\"", .authInt), ("authx,auth-int", .authInt),
        ] as [(String?, QualityOfProtection?)]) func `chooses one protection of a list`(
            _ list: String?, _ chosen: QualityOfProtection?
        )
    {
        #expect(DigestAuthentication.chooseProtection(from: list) == chosen)
    }

    @Test func `counts in eight hexadecimal digits`() {
        #expect(DigestAuthentication.text(nonceCount: 1) == "00000001")
        #expect(DigestAuthentication.text(nonceCount: 0xABCDEF) == "00abcdef")
        #expect(DigestAuthentication.text(nonceCount: .max) == "ffffffff")
    }

    @Test(arguments: [
        ("MD5", DigestAlgorithm.md5, false), ("md5-SESS", .md5, true), ("sha-256", .sha256, false),
        ("SHA-512-256-sess", .sha512Truncated256, true),
    ]) func `knows its algorithms`(_ name: String, _ algorithm: DigestAlgorithm, _ isSession: Bool) throws {
        let digest = try #require(DigestAuthentication(algorithm: name, realm: "", nonce: ""))
        #expect(digest.algorithm == algorithm)
        #expect(digest.isSession == isSession)
        #expect(digest.algorithmName.lowercased() == name.lowercased())
    }

    @Test(arguments: ["SHA-1", "AKAv1-MD5", "", "-sess"]) func `knows no others`(_ name: String) {
        #expect(DigestAuthentication(algorithm: name, realm: "", nonce: "") == nil)
    }

    @Test func `compares responses`() {
        #expect(DigestAuthentication.areEqual("abc", "abc"))
        #expect(!DigestAuthentication.areEqual("abc", "abd"))
        #expect(!DigestAuthentication.areEqual("abc", "ab"))
    }
}
