import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `The transaction table (RFC 3261 §17.1.3, §17.2.3)` {
    private let source = TransportTarget(transport: .udp, remote: Endpoint(IPAddress(version4: 0xC000_020A), 5070))

    private func request(_ text: String) throws -> SIPRequest {
        guard case .request(let request) = try SIPMessage(parsing: Array(text.utf8)) else {
            throw SIPParseError("no request")
        }
        return request
    }

    private func message(
        _ method: String, branch: String = "z9hG4bK1", host: String = "192.0.2.10", cseq: Int = 1, toTag: String = ""
    ) throws -> SIPRequest {
        try request(
            """
            \(method) sip:alice@192.0.2.1 SIP/2.0\r
            Via: SIP/2.0/UDP \(host);branch=\(branch)\r
            From: <sip:bob@192.0.2.10>;tag=b\r
            To: <sip:alice@192.0.2.1>\(toTag.isEmpty ? "" : ";tag=\(toTag)")\r
            Call-ID: c\r
            CSeq: \(cseq) \(method)\r
            Content-Length: 0\r
            \r

            """)
    }

    private func names(_ outputs: [TransactionTable.Output]) -> [String] {
        outputs.map { output in
            switch output {
            case .send(let bytes, _): String(decoding: bytes.prefix { $0 != 0x0D }, as: UTF8.self)
            case .request(let request, _): "new \(request.method)"
            case .mergedRequest: "merged"
            case .overload: "overload"
            case .acknowledgement: "ack"
            case .response(let response, _, _): "response \(response.status)"
            case .timedOut: "timed out"
            case .transportFailed: "transport failed"
            case .clientTerminated, .serverTerminated: "terminated"
            }
        }
    }

    @Test func `tells requests apart by branch, sent-by and method`() throws {
        var table = TransactionTable()
        var outputs: [TransactionTable.Output] = []

        for request in [
            try message("OPTIONS"), try message("OPTIONS"), try message("OPTIONS", branch: "z9hG4bK2", cseq: 2),
            try message("OPTIONS", host: "192.0.2.11", cseq: 3), try message("INFO", cseq: 4),
            try message("OPTIONS", branch: "Z9HG4BK1"),
        ] {
            table.receive(request, from: source, at: .zero, outputs: &outputs)
        }

        #expect(names(outputs) == ["new OPTIONS", "new OPTIONS", "new OPTIONS", "new INFO"])
    }

    @Test func `an ACK belongs to its INVITE's refusal and to no other method's transaction`() throws {
        var table = TransactionTable()
        var outputs: [TransactionTable.Output] = []
        table.receive(try message("OPTIONS"), from: source, at: .zero, outputs: &outputs)
        table.receive(try message("ACK"), from: source, at: .zero, outputs: &outputs)
        #expect(names(outputs) == ["new OPTIONS", "ack"])
        outputs = []

        let invite = try message("INVITE", branch: "z9hG4bK9", cseq: 5)
        table.receive(invite, from: source, at: .zero, outputs: &outputs)
        guard case .request(_, let id)? = outputs.last else { return }
        table.respond(SIPResponse(answering: invite, status: 486, tag: "a"), to: id, at: .zero, outputs: &outputs)
        table.receive(
            try message("ACK", branch: "z9hG4bK9", cseq: 5, toTag: "a"), from: source, at: .zero, outputs: &outputs)
        table.handle(timeoutAt: .zero + .seconds(20), outputs: &outputs)

        #expect(names(outputs) == ["new INVITE", "SIP/2.0 486 Busy Here", "terminated"])
    }

    @Test func `without a branch of RFC 3261 compares as RFC 2543 did`() throws {
        var table = TransactionTable()
        var outputs: [TransactionTable.Output] = []
        let invite = try message("INVITE", branch: "old", cseq: 5)
        table.receive(invite, from: source, at: .zero, outputs: &outputs)
        table.receive(invite, from: source, at: .zero, outputs: &outputs)
        guard case .request(_, let id)? = outputs.first else { return }
        table.respond(SIPResponse(answering: invite, status: 486, tag: "a"), to: id, at: .zero, outputs: &outputs)

        table.receive(
            try message("ACK", branch: "old", cseq: 5, toTag: "a"), from: source, at: .zero, outputs: &outputs)
        table.receive(try message("INVITE", branch: "old", cseq: 6), from: source, at: .zero, outputs: &outputs)

        #expect(names(outputs) == ["new INVITE", "SIP/2.0 486 Busy Here", "new INVITE"])
    }

    @Test func `a response finds its request by branch and method alone`() throws {
        var table = TransactionTable()
        var outputs: [TransactionTable.Output] = []
        let request = try message("OPTIONS")
        _ = table.start(request, to: source, at: .zero, outputs: &outputs)
        outputs = []
        var stray = SIPResponse(answering: request, status: 200, tag: "a")
        stray.headers.cseq = CSeq(1, .info)
        table.receive(stray, from: source, at: .zero, outputs: &outputs)
        #expect(outputs.isEmpty)

        table.receive(
            SIPResponse(answering: request, status: 200, tag: "a"), from: source, at: .zero, outputs: &outputs)

        #expect(names(outputs) == ["response 200"])
    }

    @Test func `a transport that fails ends what waits on it, and only that`() throws {
        var table = TransactionTable()
        var outputs: [TransactionTable.Output] = []
        let tcp = TransportTarget(transport: .tcp, remote: source.remote, connection: 4)
        _ = table.start(try message("OPTIONS", branch: "z9hG4bKa"), to: source, at: .zero, outputs: &outputs)
        _ = table.start(try message("OPTIONS", branch: "z9hG4bKb"), to: tcp, at: .zero, outputs: &outputs)
        outputs = []

        table.handleTransportFailure(
            of: TransportTarget(transport: .tcp, remote: source.remote, connection: 5), outputs: &outputs)
        #expect(outputs.isEmpty)
        table.handleTransportFailure(of: tcp, outputs: &outputs)

        #expect(names(outputs) == ["transport failed", "terminated"])
        #expect(table.clientCount == 1)
    }

    @Test func `a response whose connection has gone goes to where Via says (RFC 3261 §18.2.2)`() throws {
        var table = TransactionTable()
        var outputs: [TransactionTable.Output] = []
        let tcp = TransportTarget(
            transport: .tcp, remote: Endpoint(IPAddress(version4: 0xC000_020A), 41234), connection: 4)
        let invite = try message("INVITE")
        table.receive(invite, from: tcp, at: .zero, outputs: &outputs)
        guard case .request(_, let id)? = outputs.first else { return }
        table.handleTransportFailure(of: tcp, outputs: &outputs)
        outputs = []

        table.respond(SIPResponse(answering: invite, status: 486, tag: "a"), to: id, at: .zero, outputs: &outputs)

        guard case .send(_, let target)? = outputs.first else {
            Issue.record("nothing was sent")
            return
        }
        #expect(target == TransportTarget(transport: .tcp, remote: Endpoint(IPAddress(version4: 0xC000_020A), 5060)))
    }

    struct Routing: Sendable {
        let via: String
        let transport: SIPTransport
        let expected: String
    }

    @Test(arguments: [
        Routing(via: "192.0.2.10:5080", transport: .udp, expected: "192.0.2.10:5080"),
        Routing(via: "192.0.2.10", transport: .udp, expected: "192.0.2.10:5060"),
        Routing(via: "10.0.0.1:5080", transport: .udp, expected: "192.0.2.10:5080"),
        Routing(via: "10.0.0.1:5080;rport", transport: .udp, expected: "192.0.2.10:5070"),
        Routing(via: "host.example.org;maddr=224.0.1.75", transport: .udp, expected: "224.0.1.75:5060"),
        Routing(via: "10.0.0.1:5080", transport: .tcp, expected: "192.0.2.10:5070"),
    ])
    func `responses go where RFC 3261 §18.2.2 and RFC 3581 say`(routing: Routing) throws {
        let name = routing.transport.viaName
        var request = try message("OPTIONS")
        request.headers[first: .via] = "SIP/2.0/\(name) \(routing.via);branch=z9hG4bK1"
        let source = TransportTarget(transport: routing.transport, remote: source.remote)

        ResponseRouting.stamp(&request, from: source)

        #expect(ResponseRouting(request: request, from: source).target.remote.description == routing.expected)
        let via = request.headers.topVia
        #expect((via?.received != nil) == (via?.host.text != "192.0.2.10"))
        #expect(via?.rport == (routing.via.hasSuffix("rport") ? 5070 : nil))
    }
}
