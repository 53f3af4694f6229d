/// Why there is no DTLS association.
package enum DTLSError: Error, Hashable, Sendable {
    /// The far end did not answer in time.
    case timedOut
    /// The certificate is not the one that signalling vouches for.
    case fingerprintMismatch
    /// There is no SRTP protection profile in common (RFC 5764 §4.1).
    case noCommonProfile
    /// The far end refused, or did what no handshake allows; with OpenSSL's words for it.
    case handshakeFailed(String)
    /// The library refused a setting or ran out of memory.
    case unavailable
}
