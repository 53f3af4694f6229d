internal import COpenSSL

/// OpenSSL's per-thread queue of what went wrong.
enum TLSErrors {
    struct Entry {
        let reason: Int32
        let text: String
        /// Whether the peer said so in an alert.
        var isAlert: Bool { reason >= Int32(SSL_AD_REASON_OFFSET) }
    }

    /// The cause that is deepest, which is the first; the queue is empty afterwards.
    static func takeLast() -> Entry? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        // ERR_GET_REASON is a macro: the low 23 bits.
        let reason = Int32(truncatingIfNeeded: code & 0x7F_FFFF)
        let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        return Entry(reason: reason, text: text)
    }

    /// What a handshake or a record failed of.
    static func failure(ofPeer peer: String, entry: Entry?) -> IOError {
        guard let entry else { return IOError(.handshake, reason: "The TLS connection with \(peer) broke.") }
        switch entry.reason - Int32(SSL_AD_REASON_OFFSET) {
        case Int32(TLS1_AD_UNKNOWN_CA):
            return IOError(
                .certificate(.unknownAuthority),
                reason: "\(peer) does not trust our certificate's authority; have it signed by one that \(peer) knows.")
        case Int32(SSL3_AD_CERTIFICATE_EXPIRED):
            return IOError(.certificate(.expired), reason: "\(peer) finds our certificate expired; renew it.")
        case Int32(TLS13_AD_CERTIFICATE_REQUIRED):
            return IOError(.certificate(.missing), reason: "\(peer) wants a client certificate; configure one.")
        case Int32(SSL3_AD_BAD_CERTIFICATE), Int32(SSL3_AD_UNSUPPORTED_CERTIFICATE), Int32(SSL3_AD_CERTIFICATE_REVOKED),
            Int32(SSL3_AD_CERTIFICATE_UNKNOWN):
            return IOError(.certificate(.other), reason: "\(peer) does not accept our certificate (\(entry.text)).")
        case Int32(TLS1_AD_PROTOCOL_VERSION):
            return IOError(.handshake, reason: "\(peer) speaks no TLS version that we do (1.2 and 1.3).")
        default: break
        }
        switch entry.reason {
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return IOError(.certificate(.missing), reason: "\(peer) showed no client certificate, which we ask for.")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
            return IOError(
                .handshake, reason: "\(peer) does not speak TLS on this port; check the port and the transport.")
        case SSL_R_UNSUPPORTED_PROTOCOL:
            return IOError(.handshake, reason: "\(peer) speaks no TLS version that we do (1.2 and 1.3).")
        default:
            return IOError(.handshake, reason: "The TLS connection with \(peer) failed: \(entry.text).")
        }
    }

    /// Why a certificate was not accepted, by OpenSSL's verification code; nil where it was.
    static func failure(ofPeer peer: String, verification code: Int, shown names: [String]) -> IOError? {
        guard code != X509_V_OK else { return nil }
        switch Int32(truncatingIfNeeded: code) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
            let shown = names.isEmpty ? "names nobody" : "is for \(names.joined(separator: ", "))"
            return IOError(
                .certificate(.wrongName),
                reason: "The certificate shown \(shown), not for \(peer); check the server's name, or its certificate.")
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return IOError(
                .certificate(.expired), reason: "The certificate of \(peer) has expired; its operator must renew it.")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return IOError(
                .certificate(.notYetValid),
                reason: "The certificate of \(peer) is not valid yet; check this machine's clock.")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return IOError(
                .certificate(.selfSigned),
                reason:
                    "The certificate of \(peer) is signed by itself; give it as a certificate authority if you trust it."
            )
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return IOError(
                .certificate(.unknownAuthority),
                reason:
                    "The certificate of \(peer) comes from an authority that is not trusted; give that authority's certificate."
            )
        default:
            return IOError(
                .certificate(.other),
                reason:
                    "The certificate of \(peer) is not accepted: \(String(cString: X509_verify_cert_error_string(code)))."
            )
        }
    }
}
