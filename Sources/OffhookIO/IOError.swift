/// Why a socket, a handshake or a name look-up failed, with a sentence that says what to do about it.
package struct IOError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A system call failed; `code` is its `errno`.
        case system
        /// The other side, or the way to it, did not answer in time.
        case timedOut
        /// The peer broke the protocol it was to speak.
        case protocolViolation
        /// The peer's certificate was not accepted, or ours was not by the peer.
        case certificate(CertificateFault)
        /// The handshake failed for another cause than a certificate.
        case handshake
        /// The name exists nowhere, or has no address.
        case nameNotFound
        /// No name server gave an answer.
        case nameServerFailed
        /// A setting cannot be used (a file that is no certificate, a name that is no name).
        case configuration
        /// The object was closed by this side.
        case closed
    }

    /// What is wrong with a certificate.
    package enum CertificateFault: Hashable, Sendable {
        case wrongName
        case expired
        case notYetValid
        case selfSigned
        case unknownAuthority
        case missing
        case other
    }

    package let kind: Kind
    /// The `errno` of the call that failed; 0 where no system call did.
    package let code: Int32
    /// What happened and what to do, in one or two sentences.
    package let reason: String

    package init(_ kind: Kind, code: Int32 = 0, reason: String) {
        self.kind = kind
        self.code = code
        self.reason = reason
    }
}

extension IOError: CustomStringConvertible {
    package var description: String { reason }
}
