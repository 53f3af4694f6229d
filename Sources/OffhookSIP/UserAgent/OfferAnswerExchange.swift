/// Who owes a description to whom within one dialog, so that one exchange is open at a time.
///
/// RFC 3261 §13.2.1, RFC 6337 §2.
struct OfferAnswerExchange: Sendable {
    enum State: Hashable, Sendable {
        /// Nothing is open.
        case stable
        /// Our offer went out in this message; its answer is awaited.
        case localOffer(DescriptionCarrier)
        /// We sent an INVITE without an offer; the far end is to make one.
        case awaitingOffer
        /// Their offer came in this message; we owe the answer.
        case remoteOffer(DescriptionCarrier)
        /// Their INVITE had no offer; we owe one.
        case offerOwed
    }

    private(set) var state: State

    init(_ state: State = .stable) {
        self.state = state
    }

    var isStable: Bool { state == .stable }

    mutating func open(_ state: State) {
        self.state = state
    }

    /// The exchange ended, with an answer or by a refusal that leaves what was agreed before.
    mutating func close() {
        state = .stable
    }
}
