extension OfferAnswer {
    /// Makes an offer of what is wanted. An open offer of either side is taken back first.
    package mutating func makeOffer(_ wishes: MediaWishes) -> SessionDescription {
        SessionDescription(origin: Origin(sessionID: "0", sessionVersion: "0", address: "0.0.0.0"))
    }

    /// Takes the peer's offer in. Unless it is rejected, `makeAnswer` or `rollback` must follow.
    package mutating func receiveOffer(_ offer: SessionDescription) -> OfferEvaluation {
        OfferEvaluation()
    }

    /// Answers the open offer of the peer; nil where none is open.
    package mutating func makeAnswer(_ wishes: MediaWishes) -> SessionDescription? {
        nil
    }

    /// Takes the peer's answer to our open offer in.
    ///
    /// The answer to the newest offer may come again with another content, as a 183 and the 200 after it often have it;
    /// the newest holds.
    package mutating func receiveAnswer(_ answer: SessionDescription) -> AnswerOutcome {
        .unexpected
    }
}
