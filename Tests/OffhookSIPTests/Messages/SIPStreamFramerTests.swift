import OffhookSIP
import Testing

@Suite struct `SIP stream framing` {
    private func outputs(_ framer: inout SIPStreamFramer) throws(SIPStreamError) -> [SIPStreamFramer.Output] {
        var outputs: [SIPStreamFramer.Output] = []
        while let output = try framer.next() { outputs.append(output) }
        return outputs
    }

    @Test func `gives every message, fed byte by byte`() throws {
        for message in try Fixture.accepted() {
            var framer = SIPStreamFramer()
            var all: [SIPStreamFramer.Output] = []
            for byte in message.write() {
                #expect(all.isEmpty)
                framer.receive([byte])
                all += try outputs(&framer)
            }
            #expect(all == [.message(message)])
        }
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1000, 65536, .max]) func `gives many messages in portions of any size`(size: Int)
        throws
    {
        let messages = try Fixture.accepted()
        #expect(messages.count > 200)
        let stream = messages.flatMap { $0.write() }
        var framer = SIPStreamFramer()
        var all: [SIPStreamFramer.Output] = []

        var start = 0
        while start < stream.count {
            let end = min(start.addingReportingOverflow(size).overflow ? stream.count : start + size, stream.count)
            framer.receive(Array(stream[start..<end]))
            all += try outputs(&framer)
            start = end
        }

        #expect(all == messages.map { .message($0) })
    }

    private struct Report: Decodable {
        struct Run: Decodable {
            let chunks: [String]
        }
        let runs: [Run]
    }

    @Test func `passes over line ends left behind a body`() throws {
        for run in try Fixture.json("reports/R114.json", as: Report.self).runs {
            var framer = SIPStreamFramer()
            var methods: [SIPMethod] = []
            for chunk in run.chunks {
                framer.receive(Array(chunk.utf8))
                for case .message(.request(let request)) in try outputs(&framer) { methods.append(request.method) }
            }
            #expect(methods == [.message, .options])
        }
    }

    @Test(arguments: [1, 4]) func `tells a ping from a pong`(size: Int) throws {
        var framer = SIPStreamFramer()
        func feed(_ text: String) throws -> [SIPStreamFramer.Output] {
            var all: [SIPStreamFramer.Output] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                framer.receive(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                all += try outputs(&framer)
            }
            return all
        }

        #expect(try feed("\r\n\r\n") == [.ping])
        framer.didSendPing()
        #expect(try feed("\r\n") == [.pong])
        framer.didSendPing()
        #expect(try feed("\r\n\r\n\r\n") == [.pong, .ping])
        #expect(try feed("\r\n").isEmpty)
    }

    private static let start = "OPTIONS sip:a@h SIP/2.0\r\nVia: SIP/2.0/TCP h;branch=z9hG4bK1\r\n"

    @Test(arguments: [
        ("\r\n", SIPStreamError.Cause.noContentLength), ("Content-Length: -1\r\n\r\n", .badContentLength),
        ("l: 1\r\nContent-Length: 2\r\n\r\n", .badContentLength), ("l: 1048577\r\n\r\n", .bodyTooLong),
        ("l: 99999999999999999999\r\n\r\n", .bodyTooLong),
        ("X: " + String(repeating: "x", count: 65536), .headerTooLong),
    ])
    func `ends where the next message cannot be found`(rest: String, cause: SIPStreamError.Cause) throws {
        var framer = SIPStreamFramer()
        framer.receive(Array((Self.start + rest).utf8))

        let error = #expect(throws: SIPStreamError.self) { try framer.next() }
        #expect(error?.cause == cause)
        #expect(error?.rejection?.request.headers.topVia?.branch == "z9hG4bK1")
        framer.receive([13, 10, 13, 10])
        #expect(throws: SIPStreamError.self) { try framer.next() }
    }

    @Test func `goes on behind a wrong message whose length is clear`() throws {
        var framer = SIPStreamFramer()
        framer.receive(Array((Self.start + "l: 3\r\n\r\nabc\r\n\r\n").utf8))

        let all = try outputs(&framer)

        guard case .malformed(let error) = all.first else {
            Issue.record("no malformed message")
            return
        }
        #expect(error.rejection?.status == 400)
        #expect(all.dropFirst() == [.ping])
    }

    @Test func `looks at each byte of a slow header once`() throws {
        var framer = SIPStreamFramer()
        framer.receive(Array(Self.start.utf8))
        // 60,000 calls over a header of 60 KB: a search from its start each time would look at 1.8 billion bytes.
        for _ in 0..<30000 {
            framer.receive(Array("a\n".utf8))
            #expect(try framer.next() == nil)
        }
    }
}
