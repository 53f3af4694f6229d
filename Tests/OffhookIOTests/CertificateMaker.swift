import COpenSSL
import OffhookIO

/// Makes keys and certificates for a test.
// Keys and certificates are only read once made, and OpenSSL counts references under locks.
final class CertificateMaker: @unchecked Sendable {
    struct Request {
        var commonName: String?
        /// OpenSSL's words: `DNS:example.org,URI:sip:example.org`.
        var alternativeNames: String?
        var isAuthority = false
        /// Seconds from now.
        var validFrom = -3600
        var validUntil = 3600
    }

    private let key: OpaquePointer
    private let certificate: OpaquePointer

    /// Signed by an authority, or by itself.
    init(_ request: Request, signedBy authority: CertificateMaker? = nil) {
        key = Self.makeKey()
        certificate = X509_new()
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1..<1 << 40))
        X509_gmtime_adj(X509_getm_notBefore(certificate), request.validFrom)
        X509_gmtime_adj(X509_getm_notAfter(certificate), request.validUntil)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        if let name = request.commonName { X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) }
        let issuer = authority.map { X509_get_subject_name($0.certificate) } ?? subject
        X509_set_issuer_name(certificate, issuer)
        add(NID_basic_constraints, request.isAuthority ? "critical,CA:TRUE" : "CA:FALSE")
        if let names = request.alternativeNames { add(NID_subject_alt_name, names) }
        X509_sign(certificate, authority?.key ?? key, EVP_sha256())
    }

    deinit {
        EVP_PKEY_free(key)
        X509_free(certificate)
    }

    var pem: [UInt8] {
        Self.text { PEM_write_bio_X509($0, certificate) }
    }

    func identity(chain: [CertificateMaker] = []) -> TLSContext.Identity {
        let privateKey = Self.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
        return TLSContext.Identity(certificateChain: pem + chain.flatMap(\.pem), privateKey: privateKey)
    }

    private func add(_ kind: Int32, _ value: String) {
        let extension_ = X509V3_EXT_conf_nid(nil, nil, kind, value)
        X509_add_ext(certificate, extension_, -1)
        X509_EXTENSION_free(extension_)
    }

    private static func makeKey() -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
        EVP_PKEY_keygen(context, &key)
        return key!
    }

    private static func text(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        _ = write(bio)
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
        let count = bytes.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress, Int32($0.count)) }
        return Array(bytes.prefix(Int(count)))
    }
}
