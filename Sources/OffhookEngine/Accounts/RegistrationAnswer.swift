internal import OffhookBasics
internal import OffhookSIP

/// What the 2xx to a REGISTER says of us.
struct RegistrationAnswer: Sendable {
    /// How long the registrar keeps us.
    let seconds: UInt32
    let publicGRUU: URI?
    let hasOutbound: Bool
    /// Seconds after which the server takes the flow for dead (RFC 5626 §4.4); five at least, so that nobody has us flood.
    let flowTimer: UInt32?
    /// Where the request came from, as the server saw it (RFC 3581).
    let seen: Endpoint?

    init(_ response: SIPResponse, contact: SIPURI, instance: String, asked: UInt32) {
        let own = Self.own(response.headers.contacts, contact: contact, instance: instance)
        // The contact's own time counts, then that of all, then what was asked for (RFC 3261 §10.2.4).
        let told = own?.parameters["expires"].flatMap { UInt32($0) } ?? response.headers.expires ?? asked
        seconds = min(told, Self.longest)
        publicGRUU = own?.parameters["pub-gruu"].flatMap { URI(parsing: $0) }
        hasOutbound = response.headers.require.contains("outbound")
        flowTimer = response.headers[first: "Flow-Timer"].flatMap { UInt32($0) }.flatMap { $0 > 0 ? max($0, 5) : nil }
        let via = response.headers.topVia
        if let via, let address = via.received ?? via.host.address, let port = via.rport ?? via.port {
            seen = Endpoint(address, port)
        } else {
            seen = nil
        }
    }

    /// Our contact among all that the address has: by its URI, or by our device where a server has rewritten it.
    private static func own(_ contacts: [NameAddress], contact: SIPURI, instance: String) -> NameAddress? {
        if let same = contacts.first(where: { $0.uri.sip == contact }) { return same }
        let sameDevice = contacts.first {
            $0.parameters["+sip.instance"]?.lowercased() == "<\(instance)>".lowercased()
                && ($0.parameters["reg-id"] ?? "1") == "1"
        }
        // A lone contact that looks like neither is ours as a translator on the way has left it.
        return sameDevice ?? (contacts.count == 1 ? contacts.first : nil)
    }

    private static var longest: UInt32 { 30 * 86_400 }
}

/// Why a registrar refused, and whether it may think otherwise later.
struct RegistrationRefusal: Sendable {
    let failure: CallFailure
    /// Whether the same REGISTER may be taken another time (RFC 3261 §21.4 to §21.6).
    let mayPass: Bool
    let retryAfter: Duration?

    init(_ response: SIPResponse) {
        let status = response.status
        let told = "\(status) \(response.reason)"
        retryAfter = response.headers.retryAfter.map { .seconds(Int64(min($0, 86_400))) }
        switch status {
        case 401, 407:
            let reason = "The server does not take the credentials (\(told)): check name and password."
            failure = CallFailure(.authenticationFailed, reason, sipStatus: status)
        case 403:
            let reason = "The server forbids the registration (\(told)): check address, name and password."
            failure = CallFailure(.authenticationFailed, reason, sipStatus: status)
        case 404:
            let reason = "The server knows no such address (\(told))."
            failure = CallFailure(.registrationFailed, reason, sipStatus: status)
        default:
            let reason = "The server refused the registration (\(told))."
            failure = CallFailure(.registrationFailed, reason, sipStatus: status)
        }
        mayPass = [408, 423, 429, 480].contains(status) || (500..<600).contains(status) || retryAfter != nil
    }
}
