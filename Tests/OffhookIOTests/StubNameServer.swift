import OffhookBasics
import OffhookIO

/// A name server of a few records on a socket of the test's loop.
final class StubNameServer: @unchecked Sendable {
    enum Behaviour: Sendable {
        case answers
        case isSilent
        case saysServerFailed
        /// Answers with a header and then bytes of its own.
        case answersGarbage([UInt8])
    }

    struct Record: Sendable {
        let name: String
        let type: UInt16
        let data: [UInt8]

        static func address(_ name: String, _ address: IPAddress) -> Record {
            var writer = ByteWriter()
            if let value = address.version4Value {
                writer.write(value)
                return Record(name: name, type: 1, data: writer.bytes)
            }
            writer.write(address.version6Value.high)
            writer.write(address.version6Value.low)
            return Record(name: name, type: 28, data: writer.bytes)
        }

        static func srv(_ name: String, priority: UInt16, weight: UInt16, port: UInt16, target: String) -> Record {
            var writer = ByteWriter()
            writer.write(priority)
            writer.write(weight)
            writer.write(port)
            writer.write(StubNameServer.encoded(target))
            return Record(name: name, type: 33, data: writer.bytes)
        }

        static func naptr(_ name: String, order: UInt16, flags: String, service: String, replacement: String) -> Record
        {
            var writer = ByteWriter()
            writer.write(order)
            writer.write(UInt16(1))
            for text in [flags, service, ""] {
                writer.write(UInt8(text.utf8.count))
                writer.write(text.utf8)
            }
            writer.write(StubNameServer.encoded(replacement))
            return Record(name: name, type: 35, data: writer.bytes)
        }
    }

    private let records: [Record]
    private let behaviour: Behaviour
    private(set) var asked: [(name: String, type: UInt16)] = []
    private var socket: UDPSocket?

    var endpoint: Endpoint { socket?.localEndpoint ?? Endpoint(loopback4, 9) }

    init(on loop: EventLoop, _ records: [Record], behaviour: Behaviour = .answers) throws {
        self.records = records
        self.behaviour = behaviour
        socket = try UDPSocket(
            on: loop, boundTo: Endpoint(loopback4, 0),
            reception: .datagrams { [weak self] bytes, from, _ in
                guard let self, let answer = self.answer(to: bytes) else { return }
                self.socket?.send(answer, to: from)
            })
    }

    private func answer(to question: [UInt8]) -> [UInt8]? {
        guard question.count > 16 else { return nil }
        var labels: [String] = []
        var offset = 12
        while question[offset] != 0 {
            labels.append(String(decoding: question[offset + 1...offset + Int(question[offset])], as: UTF8.self))
            offset += 1 + Int(question[offset])
        }
        let name = labels.joined(separator: ".").lowercased()
        let type = UInt16(question[offset + 1]) << 8 | UInt16(question[offset + 2])
        asked.append((name, type))
        let found = records.filter { $0.name == name && $0.type == type }
        let isKnown = records.contains { $0.name == name }
        var code: UInt16 = isKnown ? 0 : 3
        switch behaviour {
        case .answers: break
        case .isSilent: return nil
        case .saysServerFailed: code = 2
        case .answersGarbage(let bytes):
            return question[..<2] + [0x81, 0x80, 0, 1, 0xFF, 0xFF, 0, 0, 0, 0] + question[12...offset + 4] + bytes
        }
        var writer = ByteWriter()
        writer.write(question[..<2])
        writer.write(0x8180 | code)
        for count in [1, UInt16(found.count), 0, 0] { writer.write(count) }
        writer.write(question[12...offset + 4])
        for record in found {
            writer.write(0xC00C as UInt16)
            writer.write(record.type)
            writer.write(1 as UInt16)
            writer.write(60 as UInt32)
            writer.write(UInt16(record.data.count))
            writer.write(record.data)
        }
        return writer.bytes
    }

    static func encoded(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }
}
