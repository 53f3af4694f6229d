/// The value of CSeq (RFC 3261 §20.16).
package struct CSeq: Hashable, Sendable {
    package var number: UInt32
    package var method: SIPMethod

    package init(_ number: UInt32, _ method: SIPMethod) {
        self.number = number
        self.method = method
    }
}

extension CSeq: CustomStringConvertible {
    package var description: String { "\(number) \(method.name)" }
}

/// The value of RAck (RFC 3262 §7.2).
package struct RAck: Hashable, Sendable {
    package var responseNumber: UInt32
    package var cseq: CSeq

    package init(responseNumber: UInt32, cseq: CSeq) {
        self.responseNumber = responseNumber
        self.cseq = cseq
    }
}

extension RAck: CustomStringConvertible {
    package var description: String { "\(responseNumber) \(cseq)" }
}

/// The value of Content-Type, and of one range in Accept (RFC 3261 §20.15).
package struct MediaType: Equatable, Sendable {
    package var type: String
    package var subtype: String
    package var parameters: SIPParameters

    package init(_ type: String, _ subtype: String, parameters: SIPParameters = SIPParameters()) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// `type/subtype` in lower case, without parameters.
    package var essence: String { "\(type)/\(subtype)".lowercased() }
}

extension MediaType: CustomStringConvertible {
    package var description: String { "\(type)/\(subtype)\(parameters)" }
}

/// The value of Session-Expires (RFC 4028 §4).
package struct SessionExpires: Equatable, Sendable {
    package enum Refresher: String, Sendable {
        case uac
        case uas
    }

    package var seconds: UInt32
    package var refresher: Refresher?

    package init(seconds: UInt32, refresher: Refresher? = nil) {
        self.seconds = seconds
        self.refresher = refresher
    }
}

extension SessionExpires: CustomStringConvertible {
    package var description: String {
        "\(seconds)" + (refresher.map { ";refresher=\($0.rawValue)" } ?? "")
    }
}

/// One value of Reason (RFC 3326 §2).
package struct SIPReason: Equatable, Sendable {
    /// Such as `SIP` or `Q.850`.
    package var protocolName: String
    package var cause: Int?
    package var text: String?

    package init(protocolName: String, cause: Int? = nil, text: String? = nil) {
        self.protocolName = protocolName
        self.cause = cause
        self.text = text
    }
}

extension SIPReason: CustomStringConvertible {
    package var description: String {
        protocolName + (cause.map { ";cause=\($0)" } ?? "") + (text.map { ";text=\($0.quoted)" } ?? "")
    }
}

/// The value of Replaces (RFC 3891 §6.1).
package struct Replaces: Equatable, Sendable {
    package var callID: String
    package var toTag: String
    package var fromTag: String
    package var isEarlyOnly: Bool

    package init(callID: String, toTag: String, fromTag: String, isEarlyOnly: Bool = false) {
        self.callID = callID
        self.toTag = toTag
        self.fromTag = fromTag
        self.isEarlyOnly = isEarlyOnly
    }
}

extension Replaces: CustomStringConvertible {
    package var description: String {
        "\(callID);to-tag=\(toTag);from-tag=\(fromTag)" + (isEarlyOnly ? ";early-only" : "")
    }
}

/// A token with parameters: the value of Event, Subscription-State, Content-Disposition and others.
package struct TokenValue: Equatable, Sendable {
    package var token: String
    package var parameters: SIPParameters

    package init(_ token: String, parameters: SIPParameters = SIPParameters()) {
        self.token = token
        self.parameters = parameters
    }
}

extension TokenValue: CustomStringConvertible {
    package var description: String { token + parameters.description }
}

/// A challenge or credentials: a scheme and its parameters (RFC 3261 §25.1, RFC 7616 §3.3 and §3.4).
///
/// A scheme whose text is no list of parameters keeps it in `opaqueText`.
package struct AuthenticationValue: Equatable, Sendable {
    /// Such as `Digest`.
    package var scheme: String
    /// Separated by commas here.
    package var parameters: SIPParameters
    package var opaqueText: String?

    package init(scheme: String, parameters: SIPParameters = SIPParameters(), opaqueText: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.opaqueText = opaqueText
    }

    package var isDigest: Bool { scheme.equalsIgnoringCase("Digest") }

    /// The tokens of the `qop` parameter in lower case.
    package var qualitiesOfProtection: [String] {
        (parameters["qop"] ?? "").utf8.split { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// Whether `stale` says true, in any case.
    package var isStale: Bool { parameters["stale"]?.equalsIgnoringCase("true") ?? false }
}

extension AuthenticationValue: CustomStringConvertible {
    package var description: String {
        if let opaqueText { return "\(scheme) \(opaqueText)" }
        let list = parameters.list.map { parameter in
            parameter.name + (parameter.rawValue.map { "=\($0)" } ?? "")
        }
        return list.isEmpty ? scheme : scheme + " " + list.joined(separator: ", ")
    }
}
