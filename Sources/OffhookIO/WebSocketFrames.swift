internal import CWslay
internal import Glibc

/// The frames of one WebSocket as a machine: bytes in, bytes and events out. It opens no socket and keeps no time.
///
/// Pings are answered and a close frame is returned by itself; the answers are in what there is to take.
final class WebSocketFrames {
    enum Role {
        case client
        case server
    }

    enum Event: Equatable {
        case text(String)
        case binary([UInt8])
        case pong
        /// The peer closes, with the status of its close frame, RFC 6455 §7.4; nil where it gave none.
        case closed(status: UInt16?)
        /// The peer broke the protocol; the close frame that says so is there to take.
        case failed(status: UInt16)
    }

    /// Wslay's connection; its callbacks get this object, which outlives it.
    private var connection: OpaquePointer?
    private var incoming: ArraySlice<UInt8> = []
    private var outgoing: [UInt8] = []
    private var events: [Event] = []
    /// Nothing is read any more.
    private var isOver = false
    /// Our own close frame is out.
    private var hasClosed = false

    init(role: Role, messageLimit: Int) throws(IOError) {
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { connection, room, count, _, user in
            guard let frames = WebSocketFrames.from(user), let room else { return -1 }
            return frames.give(into: UnsafeMutableBufferPointer(start: room, count: count), connection)
        }
        callbacks.send_callback = { _, bytes, count, _, user in
            guard let frames = WebSocketFrames.from(user) else { return -1 }
            frames.outgoing.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            return count
        }
        callbacks.genmask_callback = { _, room, count, _ in
            var random = SystemRandomNumberGenerator()
            for index in 0..<count { room?[index] = UInt8.random(in: .min ... .max, using: &random) }
            return 0
        }
        callbacks.on_msg_recv_callback = { _, message, user in
            guard let frames = WebSocketFrames.from(user), let message else { return }
            frames.received(message.pointee)
        }
        let user = Unmanaged.passUnretained(self).toOpaque()
        let result =
            switch role {
            case .client: wslay_event_context_client_init(&connection, &callbacks, user)
            case .server: wslay_event_context_server_init(&connection, &callbacks, user)
            }
        guard result == 0 else { throw IOError(.system, code: ENOMEM, reason: "There is no memory for a WebSocket.") }
        wslay_event_config_set_max_recv_msg_length(connection, UInt64(max(0, messageLimit)))
    }

    deinit {
        wslay_event_context_free(connection)
    }

    func receive(_ bytes: some Collection<UInt8>, events result: inout [Event]) {
        guard !isOver else { return }
        incoming.append(contentsOf: bytes)
        // Where the protocol is broken, wslay queues a close frame and reads no more; its result says nothing beyond that.
        wslay_event_recv(connection)
        write()
        if !isOver && wslay_event_get_close_sent(connection) != 0 && !hasClosed {
            isOver = true
            // A frame that cannot be one at all is answered without a status.
            let status = wslay_event_get_status_code_sent(connection)
            let isBare = status == UInt16(WSLAY_CODE_NO_STATUS_RCVD.rawValue)
            events.append(.failed(status: isBare ? UInt16(WSLAY_CODE_PROTOCOL_ERROR.rawValue) : status))
        }
        result += events
        events.removeAll()
    }

    /// Queues a message as one frame; false where the WebSocket is closing.
    func send(text: String) -> Bool {
        queue(UInt8(WSLAY_TEXT_FRAME.rawValue), Array(text.utf8))
    }

    func send(binary bytes: [UInt8]) -> Bool {
        queue(UInt8(WSLAY_BINARY_FRAME.rawValue), bytes)
    }

    func ping() -> Bool {
        queue(UInt8(WSLAY_PING.rawValue), [])
    }

    /// Queues a close frame; nothing may be sent after it.
    func close(status: UInt16 = 1000) {
        guard !isOver else { return }
        hasClosed = true
        wslay_event_queue_close(connection, status, nil, 0)
        write()
    }

    /// The bytes to send to the peer, which are then forgotten.
    func takeOutput() -> [UInt8] {
        defer { outgoing = [] }
        return outgoing
    }

    private func queue(_ opcode: UInt8, _ bytes: [UInt8]) -> Bool {
        guard !isOver else { return false }
        let isQueued = bytes.withUnsafeBufferPointer { bytes in
            var message = wslay_event_msg(opcode: opcode, msg: bytes.baseAddress, msg_length: bytes.count)
            return wslay_event_queue_msg(connection, &message) == 0
        }
        write()
        return isQueued
    }

    private func write() {
        // Our callback takes everything, so this can only fail for want of memory, and then nothing is sent.
        wslay_event_send(connection)
    }

    private func give(into room: UnsafeMutableBufferPointer<UInt8>, _ connection: OpaquePointer?) -> Int {
        let count = min(room.count, incoming.count)
        guard count > 0 else {
            incoming = []
            wslay_event_set_error(connection, WSLAY_ERR_WOULDBLOCK.rawValue)
            return -1
        }
        _ = room.update(fromContentsOf: incoming.prefix(count))
        incoming = incoming.dropFirst(count)
        return count
    }

    private func received(_ message: wslay_event_on_msg_recv_arg) {
        let bytes = UnsafeBufferPointer(start: message.msg, count: message.msg_length)
        switch UInt32(message.opcode) {
        case WSLAY_TEXT_FRAME.rawValue: events.append(.text(String(decoding: bytes, as: UTF8.self)))
        case WSLAY_BINARY_FRAME.rawValue: events.append(.binary(Array(bytes)))
        case WSLAY_PONG.rawValue: events.append(.pong)
        case WSLAY_CONNECTION_CLOSE.rawValue:
            isOver = true
            events.append(.closed(status: message.status_code == 0 ? nil : message.status_code))
        default: break
        }
    }

    private static func from(_ user: UnsafeMutableRawPointer?) -> WebSocketFrames? {
        user.map { Unmanaged<WebSocketFrames>.fromOpaque($0).takeUnretainedValue() }
    }
}
