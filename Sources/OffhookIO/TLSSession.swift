internal import COpenSSL
internal import OffhookBasics

/// One TLS connection as a machine: bytes in, bytes and events out. It opens no socket and keeps no time.
final class TLSSession {
    enum Event: Equatable {
        /// The handshake is done and the peer's certificate accepted.
        case established
        case plaintext([UInt8])
        /// The peer sends no more.
        case peerFinished
        /// The connection is of no use any more; what is left to send tells the peer why.
        case failed(IOError)
    }

    private enum State {
        case handshaking
        case established
        /// We said that we send no more.
        case finished
        case failed
    }

    private static let recordSize = 16_384

    private let context: TLSContext
    private let peerName: TLSContext.PeerName?
    private let peerText: String
    /// OpenSSL's connection, which owns the two memory buffers below it.
    private let connection: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var state = State.handshaking
    private var hasPeerFinished = false
    private var shownNames: [String] = []

    /// The client's side; a context that verifies needs a name to verify.
    convenience init(client context: TLSContext, peerName: TLSContext.PeerName?) throws(IOError) {
        if context.verifiesPeer && peerName == nil {
            throw IOError(
                .configuration, reason: "A TLS connection needs the name of the server to check its certificate.")
        }
        try self.init(context, peerName: peerName, peerText: peerName?.text ?? "the server")
        SSL_set_connect_state(connection)
        guard let name = peerName?.text, IPAddress(parsing: name) == nil else { return }
        // SSL_set_tlsext_host_name is a macro. Where the name is none that OpenSSL takes, none is sent.
        name.withCString { text in
            _ = SSL_ctrl(
                connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                UnsafeMutableRawPointer(mutating: text))
        }
    }

    /// The server's side.
    convenience init(server context: TLSContext) throws(IOError) {
        try self.init(context, peerName: nil, peerText: "the client")
        SSL_set_accept_state(connection)
    }

    private init(_ context: TLSContext, peerName: TLSContext.PeerName?, peerText: String) throws(IOError) {
        guard let connection = SSL_new(context.handle), let incoming = BIO_new(BIO_s_mem()),
            let outgoing = BIO_new(BIO_s_mem())
        else { throw IOError(.handshake, reason: "OpenSSL has no memory for a TLS connection.") }
        self.context = context
        self.peerName = peerName
        self.peerText = peerText
        self.connection = connection
        self.incoming = incoming
        self.outgoing = outgoing
        SSL_set_bio(connection, incoming, outgoing)
        // For the context's check of the peer's name; index 0 is the application's own.
        SSL_set_ex_data(connection, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        SSL_free(connection)
    }

    /// Begins the handshake; the client's first bytes are then there to take.
    func start(events: inout [Event]) {
        advance(events: &events)
    }

    func receive(_ ciphertext: UnsafeRawBufferPointer, events: inout [Event]) {
        guard state != .failed, ciphertext.count > 0 else { return }
        guard BIO_write(incoming, ciphertext.baseAddress, Int32(clamping: ciphertext.count)) == ciphertext.count else {
            fail(IOError(.handshake, reason: "OpenSSL has no memory for a TLS connection."), events: &events)
            return
        }
        advance(events: &events)
    }

    /// Encrypts; false where the session cannot send (not established, or finished).
    func send(_ plaintext: [UInt8]) -> Bool {
        guard state == .established, let count = Int32(exactly: plaintext.count) else { return false }
        guard count > 0 else { return true }
        ERR_clear_error()
        return plaintext.withUnsafeBytes { SSL_write(connection, $0.baseAddress, count) } == count
    }

    /// Tells the peer that nothing more is sent.
    func finish() {
        guard state == .established else { return }
        state = .finished
        ERR_clear_error()
        // The result only says whether the peer has finished as well.
        _ = SSL_shutdown(connection)
        ERR_clear_error()
    }

    /// The bytes to send to the peer, which are then forgotten.
    func takeOutput() -> [UInt8] {
        let count = BIO_ctrl_pending(outgoing)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            filled = Int(max(0, BIO_read(outgoing, room.baseAddress, Int32(clamping: room.count))))
        }
    }

    /// Whether a certificate, whose chain is good, is for the peer that is wanted. Called by the context's check.
    func accepts(certificate: OpaquePointer?) -> Bool {
        guard let peerName else { return !context.verifiesPeer }
        let names = CertificateNames(certificate: certificate)
        shownNames = names.all
        return names.matches(peerName)
    }

    private func advance(events: inout [Event]) {
        if state == .handshaking {
            ERR_clear_error()
            let result = SSL_do_handshake(connection)
            guard result == 1 else {
                if !isWaiting(result) { fail(failure(), events: &events) }
                return
            }
            state = .established
            events.append(.established)
        }
        if state != .failed { readRecords(events: &events) }
    }

    private func readRecords(events: inout [Event]) {
        var plaintext: [UInt8] = []
        let result = withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 16) { room in
            while true {
                ERR_clear_error()
                let result = SSL_read(connection, room.baseAddress, Int32(room.count))
                guard result > 0 else { return result }
                plaintext.append(contentsOf: room[..<Int(result)])
            }
        }
        // Taken at once: what is read below must not change what the last call said.
        let reason = SSL_get_error(connection, result)
        let error = reason == SSL_ERROR_SSL || reason == SSL_ERROR_SYSCALL ? failure() : nil
        if !plaintext.isEmpty { events.append(.plaintext(plaintext)) }
        if reason == SSL_ERROR_ZERO_RETURN && !hasPeerFinished {
            hasPeerFinished = true
            events.append(.peerFinished)
        }
        if let error { fail(error, events: &events) }
    }

    private func isWaiting(_ result: Int32) -> Bool {
        let reason = SSL_get_error(connection, result)
        return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE
    }

    private func failure() -> IOError {
        let entry = TLSErrors.takeLast()
        let verification = context.verifiesPeer ? SSL_get_verify_result(connection) : Int(X509_V_OK)
        // Without a certificate the verification says "good".
        return TLSErrors.failure(ofPeer: peerText, verification: verification, shown: shownNames)
            ?? TLSErrors.failure(ofPeer: peerText, entry: entry)
    }

    private func fail(_ error: IOError, events: inout [Event]) {
        state = .failed
        events.append(.failed(error))
    }
}
