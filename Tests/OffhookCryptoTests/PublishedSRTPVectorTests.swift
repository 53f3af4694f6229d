import Foundation
import OffhookBasics
import OffhookCrypto
import Testing

/// The vectors of the RFCs and of other stacks that stand in `Fixtures/srtp`.
@Suite struct `Published SRTP vectors` {
    private func object(_ name: String) throws -> [String: Any] {
        let url = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/srtp/\(name).json")
        return try #require(JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    }

    private func fields(_ name: String) throws -> [String: [UInt8]] {
        let object = try object(name)
        let fields =
            (object["fields"] ?? object["arrays"]) as? [String: String] ?? object.compactMapValues { $0 as? String }
        return fields.mapValues { bytes($0) }
    }

    /// The arrays of a table of pion's, by test, in order.
    private func arrays(_ name: String) throws -> [(test: String, name: String, bytes: [UInt8])] {
        try #require(object(name)["arrays"] as? [[String: String]]).map {
            ($0["where"] ?? "", $0["name"] ?? "", bytes($0["hex"] ?? ""))
        }
    }

    // MARK: What the RFCs derive from

    @Test func `keystreams of RFC 3711 §B.2 and RFC 6188 §7.1`() throws {
        let plain = try object("rfc3711-b2-aes-cm")
        let key = bytes(try #require(plain["session_key"] as? String))
        let rows = try #require(plain["keystream"] as? [[String: String]]).map {
            ($0["counter"] ?? "", $0["block"] ?? "")
        }
        #expect(rows.count == 6)
        for (counter, block) in rows {
            #expect(ReferenceSRTP.keystream(key: key, counter: bytes(counter), count: 16) == bytes(block))
        }

        let text = try #require(object("rfc6188-7.1")["text"] as? String)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let first = try #require(lines.firstIndex { $0.first == "Session" && $0.dropFirst().first == "Key:" })
        let longKey = bytes(lines[first][2] + lines[first + 1][0])
        let blocks = lines.filter { $0.count == 2 && $0.allSatisfy { $0.count == 32 } }
        #expect(longKey.count == 32 && blocks.count == 6)
        for row in blocks {
            #expect(ReferenceSRTP.keystream(key: longKey, counter: bytes(row[0]), count: 16) == bytes(row[1]))
        }
    }

    @Test func `session keys of RFC 3711 §B.3, of RFC 6188 §7.4 and of pion's table`() throws {
        let vector = try fields("rfc3711-b3-kdf")
        let keys = ReferenceSRTP.sessionKeys(
            key: vector["master_key"] ?? [], salt: vector["master_salt"] ?? [], firstLabel: 0)
        #expect(keys.cipher == vector["cipher_key"])
        #expect(keys.salt == vector["cipher_salt"])
        #expect(keys.authentication == vector["auth_key_94_octets"].map { Array($0.prefix(20)) })

        let text = try #require(object("rfc6188-7.4")["text"] as? String)
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        func after(_ first: String, _ second: String, count: Int) throws -> [UInt8] {
            // The words stand in sentences, too.
            let index = try #require(
                words.indices.dropLast(2).first {
                    words[$0] == first && words[$0 + 1] == second && bytes(words[$0 + 2]).count >= 8
                })
            var found: [UInt8] = []
            for word in words[(index + 2)...] where word.count % 2 == 0 && word.allSatisfy(\.isHexDigit) {
                found += bytes(word)
                if found.count >= count { break }
            }
            return found
        }
        let middle = ReferenceSRTP.sessionKeys(
            key: try after("master", "key:", count: 24), salt: try after("master", "salt:", count: 14), firstLabel: 0)
        #expect(middle.cipher == bytes("31874736a8f1143870c26e4857d8a5b2c4a354407faadabb"))
        #expect(middle.salt == (try after("cipher", "salt:", count: 14)))
        #expect(middle.authentication == (try after("auth", "key:", count: 20)))

        let table = try arrays("pion-key_derivation_test")
        for test in ["TestValidSessionKeys_AesCm128", "TestValidSessionKeys_AesCm256"] {
            let row = Dictionary(uniqueKeysWithValues: table.filter { $0.test == test }.map { ($0.name, $0.bytes) })
            let derived = ReferenceSRTP.sessionKeys(
                key: row["masterKey"] ?? [], salt: row["masterSalt"] ?? [], firstLabel: 0)
            #expect(derived.cipher == row["expectedSessionKey"], "\(test)")
            #expect(derived.salt == row["expectedSessionSalt"], "\(test)")
            #expect(derived.authentication == row["expectedSessionAuthTag"], "\(test)")
        }
    }

    @Test(arguments: ["16.1.1", "16.2.1", "16.2.2", "17.1", "17.3", "17.4"])
    func `sealed packets of RFC 7714`(section: String) throws {
        let vector = try fields("rfc7714-\(section)")
        let sealed = ReferenceSRTP.seal(
            key: try #require(vector["key"]), nonce: try #require(vector["iv"]),
            associated: try #require(vector["aad"]),
            plain: vector["plaintext"] ?? [])
        #expect(sealed == vector["ciphertext_and_tag"] ?? vector["ciphertext"] ?? vector["tag"])
    }

    @Test func `the hash of libsrtp's table`() throws {
        let vector = try fields("libsrtp-auth_test_cases")
        let tag = MessageAuthentication.hmacSHA1(
            key: try #require(vector["srtp_hmac_test_case_0_key"]),
            message: try #require(vector["srtp_hmac_test_case_0_data"]))
        #expect(tag == vector["srtp_hmac_test_case_0_tag"])
    }

    /// No suite of ours has keys of 24 bytes; the same steps with another length show that they are the right ones.
    @Test func `a packet of libsrtp's under a key of 192 bits`() throws {
        let vector = try fields("libsrtp-srtp_validate_aes_192")
        let key = try #require(vector["aes_192_test_key"])
        let reference = ReferenceSRTP(key: Array(key.prefix(24)), salt: Array(key.dropFirst(24)), tagLength: 10)
        #expect(reference.protectRTP(try #require(vector["srtp_plaintext_ref"])) == vector["srtp_ciphertext"])
    }

    // MARK: What calls use

    /// Ties the vectors above to the library that protects calls.
    @Test(arguments: SRTPSuite.allCases) func `are of the keys that packets of calls are protected with`(
        suite: SRTPSuite
    )
        throws
    {
        var random = SeededRandom(seed: UInt64(suite.keyAndSaltLength * 100 + suite.tagLength))
        for round in 0..<20 as Range<UInt32> {
            let keyAndSalt = random.bytes(suite.keyAndSaltLength)
            let reference = ReferenceSRTP(suite: suite, keyAndSalt: keyAndSalt)
            let keys = try #require(SRTPKeys(suite: suite, keyAndSalt: keyAndSalt))
            let context = try SRTPContext(outbound: keys, inbound: nil)
            let source = random.bytes(4)
            for step in 0..<3 as Range<UInt32> {
                // The last of them is after the wrap of the sequence number.
                let number: [UInt8] = step == 2 ? [0, 1] : [0xFF, 0xFD + UInt8(step)]
                let flags = round % 3 == 0 ? [0x80] : round % 3 == 1 ? [0x82] : [0x90] as [UInt8]
                var header = flags + [0x60] + number + random.bytes(4) + source
                if round % 3 == 1 { header += random.bytes(8) }
                if round % 3 == 2 { header += [0xBE, 0xDE, 0, 2] + random.bytes(8) }
                let clear = header + random.bytes(Int(round) * 37)
                let protected = packet(clear)
                try context.protectRTP(protected)
                #expect(protected.content == reference.protectRTP(clear, rolloverCounter: step == 2 ? 1 : 0))

                let report = [0x81, 0xC8, 0, 6] + source + random.bytes(20)
                let protectedReport = packet(report)
                try context.protectRTCP(protectedReport)
                #expect(protectedReport.content == reference.protectRTCP(report, index: step + 1))
            }
        }
    }

    @Test(arguments: [SRTPSuite.aesCM128HMACSHA1Tag80, .aeadAES128GCM]) func `packets of pion's table`(suite: SRTPSuite)
        throws
    {
        let table = try arrays("pion-srtp_test")
        func first(_ test: String, _ name: String) throws -> [UInt8] {
            try #require(table.first { $0.test == test && $0.name == name }).bytes
        }
        let key = try first("buildTestContext", "masterKey")
        let salt = try first("buildTestContext", "masterSalt")
        let name = suite == .aeadAES128GCM ? "encryptedGCM" : "encryptedCTR"
        let bodies = table.filter { $0.test == "rtpTestCases" && $0.name == name }.map(\.bytes)
        // The numbers and the payload stand in the table's source as plain numbers.
        let numbers: [UInt16] = [5000, 5001, 5002, 5003, 5004, 65535]
        let keys = try #require(SRTPKeys(suite: suite, keyAndSalt: key + salt.prefix(suite.saltLength)))
        let others = try #require(
            SRTPKeys(suite: suite, keyAndSalt: key + [UInt8](repeating: 0, count: suite.saltLength)))
        #expect(bodies.count == numbers.count)
        for (number, body) in zip(numbers, bodies) {
            let header = [0, 0, UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 0, count: 8)
            let clear = header + [0, 1, 2, 3, 4, 5]
            let context = try SRTPContext(outbound: keys, inbound: keys)
            let outbound = packet(clear)
            try context.protectRTP(outbound)
            #expect(outbound.content == header + body)
            let inbound = packet(header + body)
            try context.unprotectRTP(inbound)
            #expect(inbound.content == clear)
            #expect(throws: SRTPError.replayed) { try context.unprotectRTP(packet(header + body)) }
            #expect(throws: SRTPError.authenticationFailed) {
                try SRTPContext(outbound: nil, inbound: others).unprotectRTP(packet(header + body))
            }
        }
    }

    @Test func `the packet that pion refuses`() throws {
        let table = try arrays("pion-srtp_test").filter { $0.test == "TestDecryptInvalidSRTP" }
        let row = Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0.bytes) })
        let keys = try #require(
            SRTPKeys(suite: .aesCM128HMACSHA1Tag80, keyAndSalt: (row["key"] ?? []) + (row["salt"] ?? [])))
        let context = try SRTPContext(outbound: nil, inbound: keys)
        #expect(throws: SRTPError.self) { try context.unprotectRTP(packet(row["packet"] ?? [])) }
    }

    @Test func `a payload of re's comes back under its key`() throws {
        let vector = try fields("re-srtp")
        let key = try #require(vector["master_key"])
        let keys = try #require(SRTPKeys(suite: .aesCM128HMACSHA1Tag80, keyAndSalt: key))
        let context = try SRTPContext(outbound: keys, inbound: keys)
        let clear = [0x80, 0, 0, 1, 0, 0, 0, 2, 0x01, 0x02, 0x03, 0x04] + (vector["fixed_payload"] ?? [])
        let travelling = packet(clear)
        try context.protectRTP(travelling)
        #expect(travelling.content == ReferenceSRTP(suite: keys.suite, keyAndSalt: keys.keyAndSalt).protectRTP(clear))
        try context.unprotectRTP(travelling)
        #expect(travelling.content == clear)
    }
}
