internal import COpenSSL

/// Keys, certificates and rules that many TLS connections share; TLS 1.2 and 1.3.
package final class TLSContext: @unchecked Sendable {
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

    /// Who the server must be, by its certificate.
    package enum PeerName: Hashable, Sendable {
        /// The SIP domain that a request is for: by RFC 5922 §7, without wildcards.
        case sipDomain(String)
        /// A host that HTTP over TLS is for (`wss`): by RFC 6125, where `*.` may stand for one label.
        case host(String)

        /// The name itself.
        package var text: String {
            switch self {
            case .sipDomain(let name), .host(let name): name
            }
        }
    }

    // OpenSSL counts references to a context under locks of its own, and nothing changes it once it is made.
    let handle: OpaquePointer
    /// Whether peers must show who they are.
    let verifiesPeer: Bool

    private init(method: OpaquePointer?, trust: Trust?) throws(IOError) {
        guard let handle = SSL_CTX_new(method) else { throw Self.failure("OpenSSL cannot make a TLS context") }
        self.handle = handle
        if case .some(let trust) = trust {
            if case .insecurelyAnybody = trust { verifiesPeer = false } else { verifiesPeer = true }
        } else {
            verifiesPeer = false
        }
        // SSL_CTX_set_min_proto_version and SSL_CTX_set_mode are macros over SSL_CTX_ctrl.
        SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_ctrl(handle, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // SSL_OP_NO_COMPRESSION and SSL_OP_NO_RENEGOTIATION, whose macros Swift cannot import.
        SSL_CTX_set_options(handle, 1 << 17 | 1 << 30)
        if let trust { try load(trust) }
    }

    deinit {
        SSL_CTX_free(handle)
    }

    /// For connecting to servers; the identity is shown to a server that asks for one.
    package static func client(trust: Trust = .system, identity: Identity? = nil) throws(IOError) -> TLSContext {
        let context = try TLSContext(method: TLS_client_method(), trust: trust)
        if let identity { try context.load(identity) }
        SSL_CTX_set_verify(context.handle, context.verifiesPeer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        context.checkPeersByName()
        return context
    }

    /// For accepting clients; with `clientTrust`, a client must show a certificate that it vouches for.
    package static func server(identity: Identity, clientTrust: Trust? = nil) throws(IOError) -> TLSContext {
        let context = try TLSContext(method: TLS_server_method(), trust: clientTrust)
        try context.load(identity)
        let mustShow = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
        SSL_CTX_set_verify(context.handle, context.verifiesPeer ? mustShow : SSL_VERIFY_NONE, nil)
        // A resumed session of a client with a certificate needs a name of its own, which we have no use for.
        SSL_CTX_ctrl(context.handle, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        return context
    }

    private func load(_ trust: Trust) throws(IOError) {
        switch trust {
        case .system:
            guard SSL_CTX_set_default_verify_paths(handle) == 1 else {
                throw Self.failure("The system's certificate authorities cannot be read")
            }
        case .authorities(let bytes):
            try load(authorities: bytes)
        case .authorityFile(let path):
            guard SSL_CTX_load_verify_file(handle, path) == 1 else {
                throw Self.failure("\(path) holds no certificate authorities in PEM form, or cannot be read")
            }
        case .insecurelyAnybody: break
        }
    }

    private func load(authorities bytes: [UInt8]) throws(IOError) {
        let certificates = try Self.certificates(inPEM: bytes)
        defer { for certificate in certificates { X509_free(certificate) } }
        guard !certificates.isEmpty, let store = SSL_CTX_get_cert_store(handle) else {
            throw Self.failure("The certificate authorities given hold no certificate in PEM form")
        }
        for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
            throw Self.failure("A certificate authority cannot be used")
        }
    }

    private func load(_ identity: Identity) throws(IOError) {
        let chain = try Self.certificates(inPEM: identity.certificateChain)
        defer { for certificate in chain { X509_free(certificate) } }
        guard let own = chain.first else {
            throw Self.failure("The certificate chain holds no certificate in PEM form")
        }
        guard SSL_CTX_use_certificate(handle, own) == 1 else { throw Self.failure("The certificate cannot be used") }
        for certificate in chain.dropFirst() {
            // SSL_CTX_add1_chain_cert is a macro.
            guard SSL_CTX_ctrl(handle, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)) == 1 else {
                throw Self.failure("A certificate of the chain cannot be used")
            }
        }
        let key = Self.withBIO(of: identity.privateKey) { bio in
            // Without a callback of ours, OpenSSL would ask for a passphrase on the terminal.
            PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let key else {
            throw Self.failure(
                "The private key is not in PEM form, or is protected by a passphrase; give it without one")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(handle, key) == 1, SSL_CTX_check_private_key(handle) == 1 else {
            throw Self.failure("The private key does not belong to the certificate")
        }
    }

    /// The certificates of a PEM file, each to be freed by the caller.
    private static func certificates(inPEM bytes: [UInt8]) throws(IOError) -> [OpaquePointer] {
        withBIO(of: bytes) { bio in
            var certificates: [OpaquePointer] = []
            while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in 0 }, nil) {
                certificates.append(certificate)
            }
            // The last try ends at "no more"; that is no error to be found by the next call.
            ERR_clear_error()
            return certificates
        }
    }

    private static func withBIO<Result>(of bytes: [UInt8], _ body: (OpaquePointer?) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// Has OpenSSL check the chain and us, in the same step, the name; so that the peer is told by an alert.
    private func checkPeersByName() {
        SSL_CTX_set_cert_verify_callback(
            handle,
            { store, _ in
                guard X509_verify_cert(store) == 1 else { return 0 }
                let connection = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
                // Index 0 is the application's own, set by `TLSSession`, which outlives its connection.
                guard let pointer = SSL_get_ex_data(OpaquePointer(connection), 0) else { return 0 }
                let session = Unmanaged<TLSSession>.fromOpaque(pointer).takeUnretainedValue()
                if session.accepts(certificate: X509_STORE_CTX_get0_cert(store)) { return 1 }
                X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH)
                return 0
            }, nil)
    }

    private static func failure(_ sentence: String) -> IOError {
        let detail = TLSErrors.takeLast().map { " (\($0.text))" } ?? ""
        return IOError(.configuration, reason: "\(sentence)\(detail).")
    }
}
