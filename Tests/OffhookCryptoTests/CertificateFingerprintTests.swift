import OffhookCrypto
import Testing

@Suite struct `Certificate fingerprint` {
    static let certificate = Array("not really a certificate".utf8)

    @Test(arguments: CertificateFingerprint.Algorithm.allCases) func `reads back what it writes, in any letter case`(
        _ algorithm: CertificateFingerprint.Algorithm
    ) throws {
        let fingerprint = CertificateFingerprint(ofCertificate: Self.certificate, algorithm: algorithm)

        // R039: RFC 8122 §5.
        for name in [algorithm.rawValue, algorithm.rawValue.uppercased()] {
            for value in [fingerprint.value, fingerprint.value.lowercased()] {
                #expect(CertificateFingerprint(algorithm: name, value: value) == fingerprint)
            }
        }
        #expect(CertificateFingerprint.matches([fingerprint], certificate: Self.certificate))
        #expect(!CertificateFingerprint.matches([fingerprint], certificate: Self.certificate + [0]))
    }

    @Test func `is the hash that other tools compute`() {
        // printf 'abc' | sha256sum
        #expect(
            CertificateFingerprint(ofCertificate: Array("abc".utf8)).value == """
                BA:78:16:BF:8F:01:CF:EA:41:41:40:DE:5D:AE:22:23:B0:03:61:A3:96:17:7A:9C:B4:10:FF:61:F2:00:15:AD
                """)
        #expect(
            CertificateFingerprint(ofCertificate: Array("abc".utf8), algorithm: .sha1).value
                == "A9:99:3E:36:47:06:81:6A:BA:3E:25:71:78:50:C2:6C:9C:D0:D8:9D")
    }

    @Test(arguments: [
        ("md5", "00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F"), ("sha-1", ""), ("sha-1", "A9:99:3E"),
        ("sha-1", "A9993E364706816ABA3E25717850C26C9CD0D89D"),
        ("sha-1", "A9:99:3E:36:47:06:81:6A:BA:3E:25:71:78:50:C2:6C:9C:D0:D8:9G"),
        ("sha-1", "A9:99:3E:36:47:06:81:6A:BA:3E:25:71:78:50:C2:6C:9C:D0:D8:+9"),
        ("sha-1", "A9:99:3E:36:47:06:81:6A:BA:3E:25:71:78:50:C2:6C:9C:D0:D8:9D:"),
    ]) func `is not read from what is wrong`(_ algorithm: String, _ value: String) {
        #expect(CertificateFingerprint(algorithm: algorithm, value: value) == nil)
    }

    @Test func `goes by the best hash function of several`() {
        let right = CertificateFingerprint(ofCertificate: Self.certificate, algorithm: .sha256)
        let wrong = CertificateFingerprint(ofCertificate: [1], algorithm: .sha256)
        let weak = CertificateFingerprint(ofCertificate: Self.certificate, algorithm: .sha1)
        #expect(CertificateFingerprint.matches([wrong, right], certificate: Self.certificate))
        #expect(!CertificateFingerprint.matches([wrong, weak], certificate: Self.certificate))
        #expect(!CertificateFingerprint.matches([], certificate: Self.certificate))
    }
}
