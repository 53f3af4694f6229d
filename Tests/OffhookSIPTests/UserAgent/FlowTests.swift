import Foundation
import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Call flows of RFC 3665 and RFC 5359` {
    private struct Flow: Decodable {
        struct Step: Decodable {
            let label: String
            let raw: String
        }

        let messages: [Step]
    }

    /// Plays Alice, the caller: what the RFC has sent to her is sent to us, with our tags and identifiers in it, and what
    /// we send must be what the RFC has her send.
    @Test(arguments: [
        "rfc3665-3.2", "rfc3665-3.7", "rfc3665-3.8", "rfc5359-2.1", "rfc5359-2.8", "rfc5359-2.9", "rfc5359-2.12",
    ])
    func `Alice sends what the RFC shows`(name: String) throws {
        let url = Bundle.module.bundleURL.appending(path: "Fixtures/UserAgent/flows/\(name).json")
        let flow = try JSONDecoder().decode(Flow.self, from: Data(contentsOf: url))
        var scene = Scene()
        scene.peerTag = "none"

        for step in flow.messages {
            let text = step.raw
            let isHers = step.label.contains("Alice ->")
            guard isHers || step.label.contains("-> Alice") else { continue }
            switch (try SIPMessage(parsing: Array(text.utf8)), isHers) {
            case (.request(let expected), true): try send(expected, step.label, in: &scene)
            case (.response(let expected), true): try answer(expected, step.label, in: &scene)
            case (.request(let request), false): try receive(request, in: &scene)
            case (.response(let response), false): try receive(response, in: &scene)
            }
        }

        scene.advance(by: .seconds(4000))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
        #expect(scene.end != nil)
    }

    private func send(_ expected: SIPRequest, _ label: String, in scene: inout Scene) throws {
        let isFirst = expected.method == .invite && scene.sent.isEmpty
        switch expected.method {
        case .invite where isFirst:
            let from = try #require(expected.headers.from)
            var session: SessionID?
            scene.act { userAgent, _, now, actions in
                var identity = from
                identity.tag = nil
                var headers = SIPHeaders()
                headers.copy(.proxyAuthorization, from: expected.headers)
                session = userAgent.invite(
                    expected.uri, from: identity, routes: expected.headers.route, headers: headers,
                    offer: expected.body, at: now, actions: &actions)
            }
            scene.session = try #require(session)
        case .invite:
            let challenged = try #require(scene.challenged)
            var headers = SIPHeaders()
            headers.copy(.proxyAuthorization, from: expected.headers)
            scene.act { $0.authorize(challenged, headers: headers, at: $2, actions: &$3) }
        case .bye, .cancel: scene.hangUp()
        default: break
        }

        let sent = try scene.request(expected.method)
        // The RFC forgets the transport that its Contact named, and the Route that the ACK of a refusal and a CANCEL take
        // over from their INVITE (RFC 3261 §17.1.1.3, §9.1).
        var uri = try #require(sent.uri.sip)
        uri.transport = expected.uri.sip?.transport
        #expect(uri.description == expected.uri.description, "\(label)")
        let inviteBranch = try scene.request(.invite).headers.topVia?.branch
        let isCompanion = sent.method != .invite && sent.headers.topVia?.branch == inviteBranch
        if !isCompanion || !expected.headers.route.isEmpty {
            let route = expected.headers.route.map(\.uri.description)
            #expect(sent.headers.route.map(\.uri.description) == route, "\(label)")
        }
        #expect(sent.headers.to?.uri == expected.headers.to?.uri, "\(label)")
        #expect(sent.headers.to?.tag == expected.headers.to?.tag, "\(label)")
        #expect(sent.headers.from?.uri == expected.headers.from?.uri, "\(label)")
        #expect(
            sent.headers.contains(.proxyAuthorization) || !expected.headers.contains(.proxyAuthorization), "\(label)")
    }

    private func answer(_ expected: SIPResponse, _ label: String, in scene: inout Scene) throws {
        if expected.headers.cseq?.method == .invite, expected.status == 200 {
            scene.answer(String(decoding: expected.body, as: UTF8.self))
        }
        let sent = try scene.response(expected.status)
        #expect(sent.headers.cseq == expected.headers.cseq, "\(label)")
        #expect(sent.body == expected.body, "\(label)")
    }

    private func receive(_ request: SIPRequest, in scene: inout Scene) throws {
        var request = request
        request.headers.callID = scene.callID
        request.headers.to?.tag = scene.ourTag
        scene.receive(request)
    }

    private func receive(_ response: SIPResponse, in scene: inout Scene) throws {
        let method = try #require(response.headers.cseq?.method)
        let request = try scene.request(method)
        var response = response
        response.headers.vias = request.headers.vias
        response.headers.callID = scene.callID
        response.headers.from = request.headers.from
        response.headers.cseq = request.headers.cseq
        scene.receive(response)
    }
}
