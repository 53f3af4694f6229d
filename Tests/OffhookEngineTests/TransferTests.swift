import OffhookBasics
import OffhookEngine
import OffhookMedia
import OffhookSIP
import Testing

@Suite struct `Transfers` {
    private static let answer = """
        v=0
        o=- 1 1 IN IP4 203.0.113.50
        s=-
        c=IN IP4 203.0.113.50
        t=0 0
        m=audio 4000 RTP/AVP 0
        a=rtpmap:0 PCMU/8000

        """.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")

    /// Answers every call but those to `busy`.
    private static func respond(_ request: SIPRequest) -> SIPResponse? {
        guard request.method != .ack else { return nil }
        if request.method == .invite, request.uri.sip?.user == "busy" {
            return SIPResponse(answering: request, status: 486, tag: "x")
        }
        var response = SIPResponse(answering: request, status: request.method == .refer ? 202 : 200, tag: "far")
        if request.method == .invite {
            response.headers.append(.contact, "<sip:\(request.uri.sip?.user ?? "")@203.0.113.50>")
            response.headers.append(.contentType, "application/sdp")
            response.body = Array(answer.utf8)
        }
        return response
    }

    private func network(follows: Bool = true) -> ServerNetwork {
        ServerNetwork(
            configure: { account in
                account.registration = nil
                account.followsTransfers = follows
            }, respond: Self.respond)
    }

    private func call(_ network: ServerNetwork, _ user: String, number: UInt64) -> SIPRequest? {
        let call = CallHandle(number: number)
        network.step { engine, now in
            let uri = URI(parsing: "sip:\(user)@example.net") ?? .other("")
            _ = engine.addCall(
                call, of: ServerNetwork.account, to: uri, delaysOffer: false, headers: SIPHeaders(), at: now)
        }
        let token = network.token()
        network.step { $0.perform(.start, on: call, token: token, at: $1) }
        network.run(.seconds(2))
        return network.requests.map(\.request).last { $0.method == .invite }
    }

    /// A request of the far end within the dialog that this INVITE of ours began.
    private func request(_ method: SIPMethod, _ sequence: UInt32, in invite: SIPRequest) -> SIPRequest {
        var request = SIPRequest(method: method, uri: invite.headers.contacts[0].uri)
        request.headers.append(.via, "SIP/2.0/UDP 198.51.100.1;branch=z9hG4bK\(method.name)\(sequence)")
        var from = invite.headers.to
        from?.tag = "far"
        request.headers.from = from
        request.headers.to = invite.headers.from
        request.headers.callID = invite.headers.callID
        request.headers.cseq = CSeq(sequence, method)
        request.headers.append(.contact, "<sip:bob@203.0.113.50>")
        return request
    }

    private func notifications(_ network: ServerNetwork) -> [String] {
        network.requests.map(\.request).filter { $0.method == .notify }.map {
            String(decoding: $0.body, as: UTF8.self).split(separator: "\r\n").first.map(String.init) ?? ""
        }
    }

    @Test func `asked for are followed, reported and ended by the far end`() throws {
        let network = network()
        let invite = try #require(call(network, "bob", number: 5))

        var refer = request(.refer, 1, in: invite)
        refer.headers.append(
            .referTo, "<sip:carol@example.net?Replaces=abc%40host%3Bto-tag%3D1%3Bfrom-tag%3D2&X-Evil=1>")
        refer.headers.append(.referredBy, "<sip:bob@example.net>")
        network.receive(refer)
        network.run(.seconds(2))

        #expect(network.responses.last { $0.headers.cseq?.method == .refer }?.status == 202)
        #expect(network.events.contains(.transferRequested(to: "sip:carol@example.net")))
        let second = try #require(network.requests.map(\.request).last { $0.method == .invite })
        #expect(second.uri.description == "sip:carol@example.net")
        #expect(second.headers[first: .replaces] == "abc@host;to-tag=1;from-tag=2")
        #expect(second.headers.require.contains("replaces"))
        #expect(second.headers[first: .referredBy] == "<sip:bob@example.net>")
        #expect(second.headers[first: "X-Evil"] == nil)
        #expect(notifications(network) == ["SIP/2.0 100 Trying", "SIP/2.0 200 OK"])

        network.receive(request(.bye, 2, in: invite))
        network.run(.seconds(1))
        let endings = network.events.compactMap { if case .ended(let ending) = $0 { ending.cause } else { nil } }
        #expect(endings == [.transferred])
    }

    @Test func `that fail are reported, and the call goes on`() throws {
        let network = network()
        let invite = try #require(call(network, "bob", number: 5))

        var refer = request(.refer, 1, in: invite)
        refer.headers.append(.referTo, "<sip:busy@example.net>")
        network.receive(refer)
        network.run(.seconds(2))

        #expect(notifications(network).last == "SIP/2.0 486 Busy Here")
        #expect(network.engine.snapshot(of: CallHandle(number: 5))?.phase == .established)
    }

    @Test func `are followed one at a time, also while a change of ours is open`() throws {
        let network = ServerNetwork(
            configure: { account in
                account.registration = nil
                account.followsTransfers = true
            },
            respond: { request in
                // Neither our hold nor the call to carol is answered.
                guard request.method == .invite, request.headers.to?.tag != nil || request.uri.sip?.user == "carol"
                else {
                    return Self.respond(request)
                }
                return nil
            })
        let invite = try #require(call(network, "bob", number: 5))
        let hold = network.token()
        network.step { $0.perform(.hold, on: CallHandle(number: 5), token: hold, at: $1) }

        for number in UInt32(1)...5 {
            var refer = request(.refer, number, in: invite)
            refer.headers.append(.referTo, "<sip:carol@example.net>")
            refer.headers.append(.referSub, "false")
            network.receive(refer)
            network.run(.milliseconds(100))
        }

        let statuses = network.responses.filter { $0.headers.cseq?.method == .refer }.map(\.status)
        #expect(statuses == [202, 603, 603, 603, 603])
        let calls = network.requests.map(\.request).filter { $0.method == .invite && $0.uri.sip?.user == "carol" }
        #expect(Set(calls.compactMap(\.headers.callID)).count == 1)
    }

    @Test(arguments: ["<sip:carol@example.net;method=BYE>", "<mailto:carol@example.net>"])
    func `to what cannot be called are refused`(_ target: String) throws {
        let network = network()
        let invite = try #require(call(network, "bob", number: 5))

        var refer = request(.refer, 1, in: invite)
        refer.headers.append(.referTo, target)
        network.receive(refer)
        network.run(.seconds(1))

        #expect(network.responses.last { $0.headers.cseq?.method == .refer }?.status == 603)
    }

    @Test func `are refused where the settings say so`() throws {
        let network = network(follows: false)
        let invite = try #require(call(network, "bob", number: 5))

        var refer = request(.refer, 1, in: invite)
        refer.headers.append(.referTo, "<sip:carol@example.net>")
        network.receive(refer)
        network.run(.seconds(1))

        #expect(network.responses.last { $0.headers.cseq?.method == .refer }?.status == 603)
        #expect(network.requests.filter { $0.request.method == .invite }.count == 1)
    }

    @Test func `to a call of ours name its dialog`() throws {
        let network = network()
        _ = try #require(call(network, "bob", number: 5))
        let second = try #require(call(network, "carol", number: 6))

        let token = network.token()
        network.step {
            $0.perform(.transferTo(CallHandle(number: 6)), on: CallHandle(number: 5), token: token, at: $1)
        }
        network.run(.seconds(1))

        let refer = try #require(network.requests.map(\.request).last { $0.method == .refer })
        let target = try #require(refer.headers.referTo?.uri.sip)
        #expect(target.user == "carol")
        let replaces = try #require(target.headers.first { $0.name == "Replaces" }?.value)
        #expect(replaces.contains("to-tag%3Dfar"))
        #expect(replaces.contains("from-tag%3D\(second.headers.from?.tag ?? "none")"))
    }

    @Test func `into a call of ours are told, and joined with it once accepted (RFC 3911)`() throws {
        let network = network()
        let invite = try #require(call(network, "bob", number: 5))
        var incoming = SIPRequest(method: .invite, uri: invite.headers.contacts[0].uri)
        incoming.headers.append(.via, "SIP/2.0/UDP 198.51.100.1;branch=z9hG4bKjoin")
        incoming.headers.append(.from, "<sip:carol@example.net>;tag=c")
        incoming.headers.append(.to, "<sip:alice@example.org>")
        incoming.headers.append(.callID, "join")
        incoming.headers.append(.cseq, "1 INVITE")
        incoming.headers.append(.contact, "<sip:carol@203.0.113.60>")
        incoming.headers.append(
            "Join", "\(invite.headers.callID ?? "");to-tag=\(invite.headers.from?.tag ?? "");from-tag=far")
        incoming.headers.append(.contentType, "application/sdp")
        incoming.body = Array(Self.answer.utf8)
        network.receive(incoming)
        let handle = try #require(network.incoming.last)
        #expect(network.engine.snapshot(of: handle)?.callToJoin == CallHandle(number: 5))
        #expect(network.responses.last?.status == 180)

        let token = network.token()
        network.step { $0.perform(.accept, on: handle, token: token, at: $1) }
        let answer = try #require(network.responses.last)
        var acknowledgement = incoming
        acknowledgement.method = .ack
        acknowledgement.body = []
        acknowledgement.headers.remove(.contentType)
        acknowledgement.headers.to = answer.headers.to
        acknowledgement.headers.cseq = CSeq(1, .ack)
        network.receive(acknowledgement)

        #expect(network.joined == [[handle, CallHandle(number: 5)]])
        #expect(network.engine.snapshot(of: CallHandle(number: 5))?.phase == .established)
    }

    @Test func `are no matter for calls that are joined here`() throws {
        let network = network()
        _ = try #require(call(network, "bob", number: 5))
        _ = try #require(call(network, "carol", number: 6))

        let token = network.token()
        network.step { $0.perform(.join(CallHandle(number: 6)), on: CallHandle(number: 5), token: token, at: $1) }
        let nobody = network.token()
        network.step { $0.perform(.join(CallHandle(number: 9)), on: CallHandle(number: 5), token: nobody, at: $1) }

        #expect(network.joined == [[CallHandle(number: 5), CallHandle(number: 6)]])
        #expect(network.finished[token] == .some(nil))
        #expect(network.finished[nobody]??.kind == .notAllowed)
    }

    @Test func `made to us put the new call in the old one's place`() throws {
        let network = network()
        let invite = try #require(call(network, "bob", number: 5))
        let own = try #require(invite.headers.from?.tag)
        var incoming = SIPRequest(method: .invite, uri: invite.headers.contacts[0].uri)
        incoming.headers.append(.via, "SIP/2.0/UDP 198.51.100.1;branch=z9hG4bKnew")
        incoming.headers.append(.from, "<sip:carol@example.net>;tag=c")
        incoming.headers.append(.to, "<sip:alice@example.org>")
        incoming.headers.append(.callID, "new")
        incoming.headers.append(.cseq, "1 INVITE")
        incoming.headers.append(.contact, "<sip:carol@203.0.113.60>")
        incoming.headers.append(
            .replaces, "\(invite.headers.callID ?? "");to-tag=\(own);from-tag=far")
        incoming.headers.append(.contentType, "application/sdp")
        incoming.body = Array(Self.answer.utf8)
        network.receive(incoming)
        network.run(.milliseconds(100))

        let answer = try #require(network.responses.last { $0.headers.callID == "new" && $0.status >= 200 })
        #expect(answer.status == 200)
        #expect(!network.responses.contains { $0.headers.callID == "new" && $0.status == 180 })
        var acknowledgement = incoming
        acknowledgement.method = .ack
        acknowledgement.body = []
        acknowledgement.headers.remove(.contentType)
        acknowledgement.headers.remove(.replaces)
        acknowledgement.headers.to = answer.headers.to
        acknowledgement.headers.cseq = CSeq(1, .ack)
        network.receive(acknowledgement)
        network.run(.seconds(1))

        let handle = try #require(network.incoming.last)
        #expect(network.engine.snapshot(of: handle)?.phase == .established)
        let endings = network.events.compactMap { if case .ended(let ending) = $0 { ending.cause } else { nil } }
        #expect(endings == [.replaced])
        #expect(network.requests.last?.request.method == .bye)
    }
}
