internal import OffhookBasics
internal import OffhookSIP

/// REGISTERs, and what a registrar agreed to.
extension RegistrationMachine {
    mutating func resolve(actions: inout [Action]) {
        state = .resolving
        isStale = false
        if status.state != .registered { tell(RegistrationStatus(.registering), actions: &actions) }
        actions.append(.resolve(server))
    }

    mutating func tryNext(actions: inout [Action]) {
        register(along: candidates.removeFirst(), actions: &actions)
    }

    mutating func register(along route: TransportRoute, actions: inout [Action]) {
        self.route = route
        let fresh = makeContact(for: route)
        if let contact, contact.description != fresh.description, binding != nil { formerContact = contact }
        contact = fresh
        state = .registering
        if status.state != .registered { tell(RegistrationStatus(.registering), actions: &actions) }
        send(along: route, expires: interval, actions: &actions)
    }

    private func makeContact(for route: TransportRoute) -> SIPURI {
        let transport = route.target.transport
        let local = learned ?? route.local
        var uri = SIPURI(
            user: identity.uri.sip?.user, host: SIPHost(local.address), port: local.port == 0 ? nil : local.port)
        if transport != .udp { uri.transport = transport.rawValue }
        return uri
    }

    mutating func send(along route: TransportRoute, expires: UInt32, actions: inout [Action]) {
        guard let address = identity.uri.sip, let contact else { return }
        sequence &+= 1
        let domain = SIPURI(isSecure: address.isSecure, host: address.host, port: address.port)
        var request = SIPRequest(method: .register, uri: .sip(domain))
        var own = address
        own.parameters = SIPParameters()
        own.headers = []
        request.headers.from = NameAddress(displayName: identity.displayName, uri: .sip(own))
        request.headers.to = NameAddress(uri: .sip(own))
        request.headers.callID = callID
        request.headers.cseq = CSeq(sequence, .register)
        if !routes.isEmpty { request.headers.route = routes }
        var contacts = [NameAddress(uri: .sip(contact))]
        contacts[0].parameters["reg-id"] = "1"
        contacts[0].parameters.set("+sip.instance", raw: "\"<\(settings.instance)>\"")
        contacts[0].parameters["expires"] = "\(expires)"
        if let formerContact, expires > 0 {
            var former = NameAddress(uri: .sip(formerContact))
            former.parameters["expires"] = "0"
            contacts.append(former)
        }
        request.headers.contacts = contacts
        request.headers.expires = expires
        request.headers.supported = ["path", "outbound", "gruu"]
        actions.append(.send(request, route))
    }

    mutating func accept(
        _ response: SIPResponse, along flow: TransportRoute, at now: Instant, actions: inout [Action]
    ) {
        guard let contact else { return }
        let answer = RegistrationAnswer(response, contact: contact, instance: settings.instance, asked: interval)
        guard answer.seconds > 0 else {
            let told = "The registrar took the address back at once."
            return fail(CallFailure(.registrationFailed, told, sipStatus: response.status), at: now, actions: &actions)
        }
        failureCount = 0
        isRecovering = false
        tooBriefCount = 0
        formerContact = nil
        let former = binding
        if former == nil { boundAt = now }
        let interval = Duration.seconds(Int64(answer.seconds))
        var binding = RegistrationBinding(
            flow: flow, contact: .sip(contact), interval: interval, expiresAt: now + interval,
            pingInterval: answer.flowTimer.map { .seconds(Int64($0)) }
                ?? (flow.target.transport.isReliable ? .seconds(120) : .seconds(29)))
        binding.publicGRUU = answer.publicGRUU
        binding.serviceRoute = response.headers.serviceRoute
        binding.hasOutbound = answer.hasOutbound
        binding.seen = answer.seen
        self.binding = binding
        // A WebSocket has pings of its own.
        pingAt = flow.target.transport.isWebSocket ? nil : now + pingDelay(binding)
        pongDeadline = nil
        if isStale { return resolve(actions: &actions) }
        if let seen = answer.seen, isHidden(seen, binding), !hasMoved {
            // Nobody can reach the address we gave: give the one that the server sees (RFC 3581, RFC 5626 §4.4).
            hasMoved = true
            learn(seen)
            return register(along: flow, actions: &actions)
        }
        hasMoved = false
        state = .registered(refreshAt: now + Self.refreshDelay(interval))
        if former?.flow != flow || former?.contact != binding.contact || former?.callContact != binding.callContact {
            actions.append(.moved)
        }
        tell(RegistrationStatus(.registered, interval: interval), actions: &actions)
    }

    /// Whether the server sees us elsewhere than our contact says, and would send requests there in vain.
    private func isHidden(_ seen: Endpoint, _ binding: RegistrationBinding) -> Bool {
        guard let contact, !binding.hasOutbound else { return false }
        let transport = binding.flow.target.transport
        guard contact.host.address == seen.address else { return !transport.isWebSocket }
        // The port of a connection that we opened is never that which we listen on.
        return transport == .udp && (contact.port ?? transport.defaultPort) != seen.port
    }

    mutating func learn(_ seen: Endpoint) {
        learned = seen
    }

    /// Nine tenths of the time, and never less than leaves a REGISTER time to be repeated.
    ///
    /// A registrar that keeps us for hardly any time does not get REGISTERs without a pause.
    private static func refreshDelay(_ interval: Duration) -> Duration {
        let margin = min(max(interval / 10, .seconds(5)), .seconds(60))
        return max(interval - margin, interval / 2, .seconds(5))
    }

    mutating func register(longerThan response: SIPResponse, at now: Instant, actions: inout [Action]) {
        guard let least = response.headers.minExpires, least > interval, tooBriefCount < 3, let route else {
            return fail(RegistrationRefusal(response), at: now, actions: &actions)
        }
        tooBriefCount += 1
        interval = least
        send(along: route, expires: interval, actions: &actions)
    }
}
