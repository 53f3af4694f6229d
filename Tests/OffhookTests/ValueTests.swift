@testable import Offhook
import Testing

@Suite struct `Public values` {
    @Test func `end reasons compare by cause and match as patterns`() {
        let busy = CallEndReason(.busy, sipCode: 486, text: "Busy Here")

        #expect(busy == .busy)
        #expect(busy != .declined)
        #expect(CallEndReason.ended(by: .local) != .ended(by: .remote))
        let word =
            switch busy {
            case .cancelled: "cancelled"
            case .ended(by: .remote): "ended"
            case .busy: "busy"
            default: "other"
            }
        #expect(word == "busy")
        if case .failed(let error) = CallEndReason.failed(CallError(.timedOut, "late", sipStatus: 408)).cause {
            #expect(error.sipStatus == 408)
        } else {
            Issue.record("a failure has its error")
        }
    }

    @Test(arguments: [
        ("sip:bob@example.org", "sip:bob@example.org"), ("TEL:+123", "TEL:+123"),
        ("bob@b.example", "sip:bob@b.example"),
        ("192.0.2.1:5070", "sip:192.0.2.1:5070"), ("[::1]:5070", "sip:[::1]:5070"), ("1001", "sip:1001@a.example:5080"),
        ("no address", "no address"), ("", ""),
    ])
    func `short addresses are completed by the account`(text: String, uri: String) {
        #expect(CallAddress.complete(text, account: "sip:alice@a.example:5080;transport=tcp") == uri)
    }

    @Test(arguments: zip("0123456789*#ABCD", UInt8(0)...15))
    func `keys have the event codes of RFC 4733`(key: Character, code: UInt8) {
        #expect(DTMFTone(key)?.eventCode == code)
        #expect(DTMFTone(eventCode: code)?.key == key)
    }

    @Test func `what is no key is none`() {
        #expect(DTMFTone("x") == nil)
        #expect(DTMFTone("ß") == nil)
        #expect(DTMFTone(eventCode: 16) == nil)
    }

    @Test func `credentials print without the password`() {
        let credentials = Credentials(authenticationName: "alice", password: "secret")

        #expect(!"\(credentials)".contains("secret"))
        #expect(!String(reflecting: credentials).contains("secret"))
    }

    @Test func `a call without news allows nothing`() {
        let capabilities = CallCapabilities()

        #expect(CallCapabilities.Name.all.allSatisfy { capabilities[$0] == .denied(.invalidState) })
    }
}
