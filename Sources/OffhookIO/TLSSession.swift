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

    private let context: TLSContext

    init(client context: TLSContext, peerName: String?) throws(IOError) {
        self.context = context
    }

    init(server context: TLSContext) throws(IOError) {
        self.context = context
    }

    /// Begins the handshake; the client's first bytes are then there to take.
    func start(events: inout [Event]) {}

    func receive(_ ciphertext: UnsafeRawBufferPointer, events: inout [Event]) {}

    /// Encrypts; false where the session cannot send (not established, or finished).
    func send(_ plaintext: [UInt8]) -> Bool {
        false
    }

    /// Tells the peer that nothing more is sent.
    func finish() {}

    /// The bytes to send to the peer, which are then forgotten.
    func takeOutput() -> [UInt8] {
        []
    }
}
