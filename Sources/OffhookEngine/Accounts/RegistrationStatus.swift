internal import OffhookBasics
internal import OffhookSIP

/// Where and how an account registers.
package struct RegistrationSettings: Sendable {
    /// Seconds to ask for.
    package var interval: UInt32 = 600
    /// Names this device for as long as it is in use: `urn:uuid:…` (RFC 5626 §4.1).
    package var instance: String

    package init(instance: String) {
        self.instance = instance
    }
}

/// How an account stands with its registrar.
package struct RegistrationStatus: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case unregistered
        case registering
        case registered
        case unregistering
        case failed
    }

    package var state: State
    /// How long until the next try by itself; nil where there is none.
    package var retryAfter: Duration?
    /// For how long the registrar has us at a time.
    package var interval: Duration?
    package var failure: CallFailure?

    package init(
        _ state: State, retryAfter: Duration? = nil, interval: Duration? = nil, failure: CallFailure? = nil
    ) {
        self.state = state
        self.retryAfter = retryAfter
        self.interval = interval
        self.failure = failure
    }
}

/// What a registrar agreed to.
struct RegistrationBinding: Sendable {
    /// The way that the registrar's answer came; requests of the account go there first, and those to it come from there.
    var flow: TransportRoute
    /// As registered, without parameters of the header field.
    var contact: URI
    /// The public GRUU, where the registrar gave one (RFC 5627).
    var publicGRUU: URI?
    /// Where requests of ours pass through (RFC 3608).
    var serviceRoute: [NameAddress] = []
    /// Whether the registrar keeps the flow and sends requests for us along it (RFC 5626 §6).
    var hasOutbound = false
    var interval: Duration
    var expiresAt: Instant
    /// How often a sign of life is due at the latest.
    var pingInterval: Duration
    /// The address that the server saw us at.
    var seen: Endpoint?

    /// What Contact of calls says.
    var callContact: NameAddress {
        if let publicGRUU { return NameAddress(uri: publicGRUU) }
        guard hasOutbound, var uri = contact.sip else { return NameAddress(uri: contact) }
        // Calls are to come along the same flow (RFC 5626 §4.3).
        uri.parameters.setFlag("ob")
        return NameAddress(uri: .sip(uri))
    }
}
