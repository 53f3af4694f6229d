/// A request's method; compared with regard to case (RFC 3261 §7.1).
package struct SIPMethod: Hashable, Sendable, ExpressibleByStringLiteral {
    package let name: String

    package init(_ name: String) {
        self.name = name
    }

    package init(stringLiteral name: String) {
        self.name = name
    }

    package static var invite: SIPMethod { "INVITE" }
    package static var ack: SIPMethod { "ACK" }
    package static var bye: SIPMethod { "BYE" }
    package static var cancel: SIPMethod { "CANCEL" }
    package static var options: SIPMethod { "OPTIONS" }
    package static var register: SIPMethod { "REGISTER" }
    package static var prack: SIPMethod { "PRACK" }
    package static var update: SIPMethod { "UPDATE" }
    package static var info: SIPMethod { "INFO" }
    package static var refer: SIPMethod { "REFER" }
    package static var subscribe: SIPMethod { "SUBSCRIBE" }
    package static var notify: SIPMethod { "NOTIFY" }
    package static var message: SIPMethod { "MESSAGE" }
    package static var publish: SIPMethod { "PUBLISH" }
}

extension SIPMethod: CustomStringConvertible {
    package var description: String { name }
}
