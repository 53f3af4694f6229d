/// Keys, certificates and rules that many TLS connections share.
package final class TLSContext: Sendable {
    /// A certificate chain, our own first, and its private key, both PEM.
    package struct Identity: Sendable {
        package var certificateChain: [UInt8]
        package var privateKey: [UInt8]

        package init(certificateChain: [UInt8], privateKey: [UInt8]) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// Whose certificates are accepted.
    package enum Trust: Sendable {
        /// Those that the system's authorities vouch for.
        case system
        /// Those that these authorities vouch for (PEM).
        case authorities([UInt8])
        /// Those that the authorities in this file vouch for (PEM).
        case authorityFile(String)
        /// Anybody's: encrypts, but does not tell who is at the other end. For tests.
        case insecurelyAnybody
    }

    /// For connecting to servers; the identity is shown to a server that asks for one.
    package static func client(trust: Trust = .system, identity: Identity? = nil) throws(IOError) -> TLSContext {
        TLSContext()
    }

    /// For accepting clients; with `clientTrust`, a client must show a certificate that it vouches for.
    package static func server(identity: Identity, clientTrust: Trust? = nil) throws(IOError) -> TLSContext {
        TLSContext()
    }
}
