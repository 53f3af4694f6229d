internal import COpenSSL

/// The opening handshake of a WebSocket, RFC 6455 §4, as text in and out.
enum WebSocketUpgrade {
    struct Request: Equatable {
        var host: String
        var path: String
        var subprotocol: String
        /// 16 random bytes in base 64.
        var key: String

        /// The request as bytes; nil where a part has a character that would make it another request.
        var bytes: [UInt8]? {
            let parts = [host, path, subprotocol]
            guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }),
                path.hasPrefix("/")
            else { return nil }
            let text =
                "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: \(subprotocol)\r\n\r\n"
            return Array(text.utf8)
        }
    }

    static func makeKey() -> String {
        var random = SystemRandomNumberGenerator()
        return base64((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// Why a server's answer is no upgrade; nil where it is one.
    static func fault(inAnswer head: HTTPHead, to request: Request) -> IOError? {
        guard let status = status(of: head) else {
            return IOError(
                .protocolViolation,
                reason: "\(request.host) does not speak HTTP on this port; check the port and the transport.")
        }
        guard status == 101 else {
            return IOError(
                .protocolViolation,
                reason:
                    "\(request.host) refused a WebSocket at \(request.path) (\(head.firstLine)); check the path and the port."
            )
        }
        guard head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection"),
            head.single("sec-websocket-accept") == accept(forKey: request.key)
        else {
            return IOError(.protocolViolation, reason: "\(request.host) answered the WebSocket upgrade wrongly.")
        }
        guard head.list("sec-websocket-extensions").isEmpty else {
            return IOError(
                .protocolViolation, reason: "\(request.host) uses a WebSocket extension that was not offered.")
        }
        // RFC 7118 §4: both sides must agree on the subprotocol.
        guard head.single("sec-websocket-protocol") == request.subprotocol else {
            return IOError(
                .protocolViolation,
                reason:
                    "\(request.host) does not speak \(request.subprotocol) over WebSocket at \(request.path); check the path."
            )
        }
        return nil
    }

    /// What a server answers to a request, and whether the connection is then a WebSocket.
    static func answer(to head: HTTPHead, subprotocol: String) -> (bytes: [UInt8], isAccepted: Bool) {
        let line = head.firstLine.split(separator: " ", omittingEmptySubsequences: false)
        guard line.count == 3, line[2] == "HTTP/1.1", line[1].hasPrefix("/") else { return refusal("400 Bad Request") }
        guard line[0] == "GET" else { return refusal("405 Method Not Allowed", "Allow: GET\r\n") }
        guard head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection") else {
            return refusal("426 Upgrade Required", "Upgrade: websocket\r\n")
        }
        guard head.single("sec-websocket-version") == "13" else {
            return refusal("426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n")
        }
        guard head.single("host") != nil, let key = head.single("sec-websocket-key"), isKey(key),
            head.list("sec-websocket-protocol").contains(subprotocol)
        else { return refusal("400 Bad Request") }
        let text =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept(forKey: key))\r\nSec-WebSocket-Protocol: \(subprotocol)\r\n\r\n"
        return (Array(text.utf8), true)
    }

    /// What a server answers to what is no request at all.
    static var badRequest: [UInt8] { refusal("400 Bad Request").bytes }

    /// RFC 6455 §4.2.2: the key and a fixed text, hashed.
    static func accept(forKey key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        return base64(digest)
    }

    private static func refusal(_ status: String, _ fields: String = "") -> (bytes: [UInt8], isAccepted: Bool) {
        (Array("HTTP/1.1 \(status)\r\n\(fields)Connection: close\r\nContent-Length: 0\r\n\r\n".utf8), false)
    }

    private static func status(of head: HTTPHead) -> Int? {
        let line = head.firstLine
        guard line.hasPrefix("HTTP/1.1 ") || line.hasPrefix("HTTP/1.0 ") else { return nil }
        let digits = line.utf8.dropFirst(9).prefix { $0 != 0x20 }
        return digits.count == 3 ? Int(String(decoding: Array(digits), as: UTF8.self)) : nil
    }

    /// 16 bytes in base 64: 22 characters of the alphabet and two signs of padding.
    private static func isKey(_ key: String) -> Bool {
        key.utf8.count == 24 && key.hasSuffix("==")
            && key.utf8.dropLast(2).allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F: true
                default: false
                }
            }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        // With room for the zero byte that OpenSSL writes behind.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.dropLast(), as: UTF8.self)
    }
}
