import Foundation
import OffhookBasics
import OffhookCrypto
import Testing

/// Tables of pion/dtls. Reading records and messages is OpenSSL's part; what a call sees of a faulty one is tried here: a
/// record that breaks the rules is dropped without a word (RFC 6347 §4.1.2.7), and a faulty message gives no keys.
@Suite struct `DTLS tables` {
    typealias Wire = `DTLS association`.Wire

    private func cases(_ name: String) throws -> [[String: Any]] {
        let url = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/dtls-tables/\(name).json")
        let table = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        return try #require(table["cases"] as? [[String: Any]]).compactMap { $0["case"] as? [String: Any] }
    }

    private func data(_ row: [String: Any], _ name: String) throws -> [UInt8] {
        bytes(String(try #require(row[name] as? String).dropFirst(4)))
    }

    @Test(arguments: 0..<7) func `datagrams that are no records leave a handshake as it is`(point: Int) throws {
        var datagrams = try cases("recordlayer-recordlayer").map { try data($0, "Data") }
        datagrams += try cases("connection_id").map { try data($0, "datagram") }
        datagrams += try cases("udp-packet_conn").map { try data($0, "packet") }
        #expect(datagrams.count == 5)
        let identity = try `DTLS association`.identity()
        for odd in datagrams {
            let wire = try Wire(client: identity, server: identity)
            wire.fate = { number, datagram in number == point ? [odd, datagram, odd] : [datagram] }

            wire.start()
            wire.run()

            #expect(wire.keys != nil, "\(odd)")
            #expect(wire.now < .zero + .milliseconds(200), "\(odd)")
        }
    }

    /// An alert of one byte in a record of its own, after the handshake and unprotected: nobody may end a call so.
    @Test func `an alert that is too short and not protected ends nothing`() throws {
        let identity = try `DTLS association`.identity()
        for row in try cases("alert-alert") {
            let body = try data(row, "Data")
            let record = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 99, 0, UInt8(body.count)] + body
            let wire = try Wire(client: identity, server: identity)
            wire.start()
            wire.run()
            for end in [wire.client, wire.server] {
                var actions: [DTLSAssociation.Action] = []
                end.receive(record.span.bytes, at: wire.now, actions: &actions)
                #expect(actions.isEmpty)
                #expect(end.isEstablished)
            }
        }
    }

    /// The body of a handshake message in a datagram is another; nil where the datagram has no whole message of the type.
    private static func replacing(_ type: UInt8, in datagram: [UInt8], by body: (ArraySlice<UInt8>) -> [UInt8])
        -> [UInt8]?
    {
        var result: [UInt8] = []
        var isReplaced = false
        var offset = 0
        while offset + 13 <= datagram.count {
            let length = Int(datagram[offset + 11]) << 8 | Int(datagram[offset + 12])
            let record = Array(datagram[offset..<min(offset + 13 + length, datagram.count)])
            offset += 13 + length
            // Messages in the clear alone: type 22, epoch 0, and not a fragment of a longer message.
            guard record.count >= 25, record[0] == 22, record[3...4].elementsEqual([0, 0]), record[13] == type,
                record[14...16].elementsEqual(record[22...24])
            else {
                result += record
                continue
            }
            let new = body(record[25...])
            let size = [UInt8(new.count >> 16), UInt8(new.count >> 8 & 0xFF), UInt8(new.count & 0xFF)]
            let message = [type] + size + record[17...18] + [0, 0, 0] + size + new
            result += record[..<11] + [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
            isReplaced = true
        }
        return isReplaced ? result : nil
    }

    /// Runs a handshake in which one message is another, whenever it is sent; tells whether that came to pass.
    private func run(_ type: UInt8, body: @escaping (ArraySlice<UInt8>) -> [UInt8]) throws -> (
        wire: Wire, isReplaced: Bool
    ) {
        let identity = try `DTLS association`.identity()
        let wire = try Wire(client: identity, server: identity)
        let count = Lock(0)
        wire.fate = { _, datagram in
            guard let replaced = Self.replacing(type, in: datagram, by: body) else { return [datagram] }
            count.withLock { $0 += 1 }
            return [replaced]
        }
        wire.start()
        wire.run()
        return (wire, count.withLock { $0 } > 0)
    }

    @Test func `messages as they are give keys`() throws {
        for type in [1, 12, 13] as [UInt8] {
            let (wire, isReplaced) = try run(type) { Array($0) }
            #expect(isReplaced, "\(type)")
            #expect(wire.keys != nil, "\(type)")
        }
    }

    @Test func `faulty key exchanges and certificate requests of a server give no keys`() throws {
        var seen = 0
        for (type, file, name, error) in [
            (UInt8(12), "handshake-message_server_key_exchange", "data", "expectedErr"),
            (13, "handshake-message_certificate_request", "rawCertificateRequest", "expErr"),
        ] {
            for row in try cases(file) where row[error] is String {
                seen += 1
                let faulty = try data(row, name)
                let (wire, isReplaced) = try run(type) { _ in faulty }
                #expect(isReplaced)
                #expect(wire.keys == nil, "\(row)")
                #expect(!wire.client.isEstablished && !wire.server.isEstablished, "\(row)")
                #expect(wire.news(of: .client).contains { if case .failed = $0 { true } else { false } }, "\(row)")
            }
        }
        #expect(seen == 9)
    }

    /// The first bytes of a table's lists are types and lengths of extensions; here they stand in a hello.
    @Test func `a hello whose extensions are cut off is not answered`() throws {
        for row in try cases("extension-raw") {
            let list = try data(row, "wire")
            let (wire, isReplaced) = try run(1) { hello in
                // Version, random, session, cookie, suites and compression come before the extensions.
                var offset = hello.startIndex + 34
                offset += 1 + Int(hello[offset])
                offset += 1 + Int(hello[offset])
                offset += 2 + Int(hello[offset]) << 8 + Int(hello[offset + 1])
                offset += 1 + Int(hello[offset])
                return hello[..<offset] + [0, UInt8(list.count)] + list
            }
            #expect(isReplaced)
            #expect(wire.keys == nil, "\(row)")
            #expect(!wire.client.isEstablished && !wire.server.isEstablished, "\(row)")
        }
    }
}
