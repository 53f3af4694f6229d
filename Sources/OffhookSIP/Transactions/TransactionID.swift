/// What names one request of ours and matches its responses (RFC 3261 §17.1.3).
package struct ClientTransactionID: Hashable, Sendable {
    package let branch: String
    /// A CANCEL shares its INVITE's branch and is told apart by this.
    package let method: SIPMethod

    package init(branch: String, method: SIPMethod) {
        self.branch = branch
        self.method = method
    }

    /// The transaction a response answers.
    init?(answeredBy response: SIPResponse) {
        guard let branch = response.headers.topVia?.branch, let method = response.headers.cseq?.method else {
            return nil
        }
        self.init(branch: branch.lowercased(), method: method)
    }
}

/// What names one request from the far end and matches its repeats (RFC 3261 §17.2.3).
package struct ServerTransactionID: Hashable, Sendable {
    private let key: String
    let method: SIPMethod

    /// The transaction of a request; an ACK has that of its INVITE.
    init?(_ request: SIPRequest) {
        self.init(request, method: request.method == .ack ? .invite : request.method)
    }

    /// The transaction of the INVITE that a CANCEL wants ended (RFC 3261 §9.2).
    init?(cancelledBy request: SIPRequest) {
        self.init(request, method: .invite)
    }

    private init?(_ request: SIPRequest, method: SIPMethod) {
        guard let via = request.headers.topVia else { return nil }
        self.method = method
        let sentBy = "\(via.host.text.lowercased()):\(via.port.map(String.init) ?? "")"
        if let branch = via.branch?.lowercased(), branch.hasPrefix("z9hg4bk") {
            key = "\(branch) \(sentBy)"
        } else {
            // RFC 2543 knew no unique branch. An ACK's To has the tag that its INVITE's has not, so To is left out
            // for both; the response with that tag went to where the ACK comes from.
            let headers = request.headers
            let toTag = method == .invite ? "" : headers.to?.tag ?? ""
            key = [
                "2543", request.uri.description, headers.from?.tag ?? "", toTag, headers.callID ?? "",
                headers.cseq.map { "\($0.number)" } ?? "", sentBy, via.branch ?? "",
            ].joined(separator: " ")
        }
    }
}
