internal import COpenSSL

/// A self-signed certificate with its key, as good as the signalling that carries its fingerprint (RFC 5763 §5).
///
/// One serves any number of associations, on any threads.
package final class DTLSIdentity: @unchecked Sendable {
    /// The kind of key.
    package enum Key: Hashable, Sendable {
        /// ECDSA on P-256: small and quick, and what browsers use.
        case p256
        /// RSA with 2048 bits, for peers that know nothing else.
        case rsa2048
    }

    // Set up in `init` and only read from then on; OpenSSL counts references to it in a thread-safe way.
    let context: OpaquePointer
    private let certificate: [UInt8]

    /// The suites that are offered in `use_srtp`, best first. The server's order decides (RFC 5764 §4.1.2).
    package static let suites: [SRTPSuite] = [
        .aeadAES128GCM, .aeadAES256GCM, .aesCM128HMACSHA1Tag80, .aesCM128HMACSHA1Tag32,
    ]

    /// Makes a key and a certificate for it, valid from a day before the given time for a year.
    ///
    /// - Parameter unixTime: Now, in seconds since 1970.
    package init(unixTime: Int64, key: Key = .p256, suites: [SRTPSuite] = DTLSIdentity.suites) throws(DTLSError) {
        guard let pair = Self.makeKey(key) else { throw .unavailable }
        defer { EVP_PKEY_free(pair) }
        guard let signed = Self.makeCertificate(for: pair, unixTime: unixTime) else { throw .unavailable }
        defer { X509_free(signed) }
        guard let context = SSL_CTX_new(DTLS_method()) else { throw .unavailable }
        guard Self.configure(context, suites: suites), SSL_CTX_use_certificate(context, signed) == 1,
            SSL_CTX_use_PrivateKey(context, pair) == 1
        else {
            SSL_CTX_free(context)
            throw .unavailable
        }
        self.context = context
        certificate = Self.encoded(signed)
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// What our session description says of the certificate.
    package func fingerprint(_ algorithm: CertificateFingerprint.Algorithm = .sha256) -> CertificateFingerprint {
        CertificateFingerprint(ofCertificate: certificate, algorithm: algorithm)
    }

    /// A certificate in DER.
    static func encoded(_ certificate: OpaquePointer) -> [UInt8] {
        let count = i2d_X509(certificate, nil)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var position = buffer.baseAddress
            i2d_X509(certificate, &position)
            initialized = Int(count)
        }
    }

    private static func makeKey(_ key: Key) -> OpaquePointer? {
        let kind = key == .p256 ? EVP_PKEY_EC : EVP_PKEY_RSA
        guard let generator = EVP_PKEY_CTX_new_id(kind, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(generator) }
        guard EVP_PKEY_keygen_init(generator) == 1 else { return nil }
        switch key {
        case .p256:
            guard EVP_PKEY_CTX_set_ec_paramgen_curve_nid(generator, NID_X9_62_prime256v1) == 1 else { return nil }
        case .rsa2048:
            guard EVP_PKEY_CTX_set_rsa_keygen_bits(generator, 2048) == 1 else { return nil }
        }
        var pair: OpaquePointer?
        guard EVP_PKEY_keygen(generator, &pair) == 1 else { return nil }
        return pair
    }

    private static func makeCertificate(for pair: OpaquePointer, unixTime: Int64) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        let day: Int64 = 86_400
        var serial = SecureRandom.bytes(16)
        serial[0] &= 0x7F
        let number = BN_bin2bn(serial, Int32(serial.count), nil)
        defer { BN_free(number) }
        let name = X509_get_subject_name(certificate)
        let isComplete =
            X509_set_version(certificate, 2) == 1
            && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
            && ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(unixTime - day)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(unixTime + 365 * day)) != nil
            // RFC 8827 §6.5 and RFC 5763 §5: a name that tells nothing about who this is.
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "offhook", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, pair) == 1
            && X509_sign(certificate, pair, EVP_sha256()) > 0
        guard isComplete else {
            X509_free(certificate)
            return nil
        }
        return certificate
    }

    private static func configure(_ context: OpaquePointer, suites: [SRTPSuite]) -> Bool {
        SSL_CTX_set_options(context, copenssl_dtls_options())
        SSL_CTX_set_session_cache_mode(context)
        // Either end proves itself by a certificate that no authority signed: the fingerprint decides, afterwards.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        let acceptsAnyChain: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { _, _ in 1 }
        SSL_CTX_set_cert_verify_callback(context, acceptsAnyChain, nil)
        let profiles = suites.compactMap(\.dtlsProfile?.name).joined(separator: ":")
        return SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(DTLS1_2_VERSION), nil) == 1
            && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:DHE+AESGCM:@SECLEVEL=1") == 1
            // This one returns 0 when all went well.
            && SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0
    }

    private static func SSL_CTX_set_session_cache_mode(_ context: OpaquePointer) {
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    }
}

extension SRTPSuite {
    /// OpenSSL's name and the registered number of the suite's protection profile (RFC 5764 §4.1.2, RFC 7714 §14.2).
    var dtlsProfile: (name: String, number: UInt)? {
        switch self {
        case .aesCM128HMACSHA1Tag80: ("SRTP_AES128_CM_SHA1_80", 1)
        case .aesCM128HMACSHA1Tag32: ("SRTP_AES128_CM_SHA1_32", 2)
        case .aeadAES128GCM: ("SRTP_AEAD_AES_128_GCM", 7)
        case .aeadAES256GCM: ("SRTP_AEAD_AES_256_GCM", 8)
        case .aesCM256HMACSHA1Tag80, .aesCM256HMACSHA1Tag32: nil
        }
    }
}
