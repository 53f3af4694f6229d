/// What names a dialog, from our side (RFC 3261 §12).
package struct DialogID: Hashable, Sendable {
    package let callID: String
    package let localTag: String
    package let remoteTag: String

    package init(callID: String, localTag: String, remoteTag: String) {
        self.callID = callID
        self.localTag = localTag
        self.remoteTag = remoteTag
    }

    /// The dialog that a request from the far end belongs to; nil if its To has no tag.
    package init?(receiving request: SIPRequest) {
        guard let callID = request.headers.callID, let localTag = request.headers.to?.tag else { return nil }
        self.init(callID: callID, localTag: localTag, remoteTag: request.headers.from?.tag ?? "")
    }
}

/// A relation between two user agents that their requests and responses within it share.
///
/// RFC 3261 §12. Early or confirmed is the business of whoever owns it.
package struct Dialog: Sendable {
    package let id: DialogID
    /// With our tag.
    package let localAddress: NameAddress
    /// With the far end's tag, if it has one.
    package let remoteAddress: NameAddress
    package private(set) var remoteTarget: URI
    package private(set) var routeSet: [NameAddress]
    /// Whether the dialog was begun with a `sips` URI over a secure transport.
    package let isSecure: Bool
    /// The CSeq of our latest request.
    package private(set) var localSequence: UInt32
    /// The CSeq of the far end's latest request, if it sent any.
    package private(set) var remoteSequence: UInt32?

    /// The dialog that a response to our request begins (RFC 3261 §12.1.2); nil if the response cannot begin one.
    package init?(request: SIPRequest, response: SIPResponse) {
        guard let callID = request.headers.callID, let local = request.headers.from, let localTag = local.tag,
            let remote = response.headers.to, let cseq = request.headers.cseq
        else { return nil }
        id = DialogID(callID: callID, localTag: localTag, remoteTag: remote.tag ?? "")
        localAddress = local
        remoteAddress = remote
        // A provisional response may leave Contact out, as some phones do; the request's own target then serves.
        remoteTarget = response.headers.contacts.first?.uri ?? request.uri
        routeSet = response.headers.recordRoute.reversed()
        isSecure = request.uri.scheme == "sips"
        localSequence = cseq.number
        remoteSequence = nil
    }

    /// The dialog that a request from the far end begins (RFC 3261 §12.1.1); nil if the request cannot begin one.
    package init?(receiving request: SIPRequest, localTag: String, isSecure: Bool) {
        guard let callID = request.headers.callID, var local = request.headers.to, let remote = request.headers.from,
            let cseq = request.headers.cseq, let contact = request.headers.contacts.first
        else { return nil }
        local.tag = localTag
        id = DialogID(callID: callID, localTag: localTag, remoteTag: remote.tag ?? "")
        localAddress = local
        remoteAddress = remote
        remoteTarget = contact.uri
        routeSet = request.headers.recordRoute
        self.isSecure = isSecure
        localSequence = 0
        remoteSequence = cseq.number
    }

    /// Takes the route set of the 2xx, which counts, over that of an earlier response (RFC 3261 §13.2.2.4).
    package mutating func confirm(with response: SIPResponse) {
        routeSet = response.headers.recordRoute.reversed()
        refreshTarget(from: response.headers)
    }

    /// Takes the Contact of a target refresh request or of the 2xx to one (RFC 3261 §12.2.1.2, §12.2.2).
    ///
    /// Returns whether the remote target changed.
    @discardableResult
    package mutating func refreshTarget(from headers: SIPHeaders) -> Bool {
        guard let uri = headers.contacts.first?.uri, uri.description != remoteTarget.description else { return false }
        remoteTarget = uri
        return true
    }

    /// Notes the CSeq of a request from the far end; false if it is lower than one before: answer 500 (§12.2.2).
    package mutating func accepts(_ cseq: CSeq) -> Bool {
        if let remoteSequence, cseq.number < remoteSequence { return false }
        // Equal numbers with another branch are no repeat the transaction layer knows, hence a request out of order.
        if let remoteSequence, cseq.number == remoteSequence { return false }
        remoteSequence = cseq.number
        return true
    }

    /// A new request within the dialog, with the next CSeq (RFC 3261 §12.2.1.1).
    package mutating func makeRequest(_ method: SIPMethod) -> SIPRequest {
        localSequence &+= 1
        return request(method, sequence: localSequence)
    }

    /// The ACK of a 2xx to our INVITE with that CSeq (RFC 3261 §13.2.2.4).
    package func makeAcknowledgement(sequence: UInt32) -> SIPRequest {
        request(.ack, sequence: sequence)
    }

    private func request(_ method: SIPMethod, sequence: UInt32) -> SIPRequest {
        var uri = remoteTarget
        var route = routeSet
        if let first = routeSet.first?.uri.sip, !first.isLooseRouter {
            // A strict router wants itself as Request-URI and the remote target as the last Route.
            var router = first
            router.headers = []
            router.parameters["method"] = nil
            uri = .sip(router)
            route = Array(routeSet.dropFirst()) + [NameAddress(uri: remoteTarget)]
        }
        var request = SIPRequest(method: method, uri: uri)
        request.headers.route = route
        request.headers.maxForwards = 70
        request.headers.from = localAddress
        request.headers.to = remoteAddress
        request.headers.callID = id.callID
        request.headers.cseq = CSeq(sequence, method)
        return request
    }
}
