internal import OffhookBasics
internal import OffhookSDP
internal import OffhookSIP

/// Candidates that are told one by one, by INFO (RFC 8840).
///
/// Our own first offers bear all candidates ("half trickle"), since nobody knows yet what the far end can. Answers to those
/// who can go out at once, and what is found later follows.
struct TrickleExchange {
    /// Whether the far end takes INFO requests of the package (RFC 6086 §4.2).
    var isTaken = false
    /// Whether a description went out before all candidates were known.
    var owes = false
    /// The INFO under way: a later one could overtake it.
    var request: RequestID?
    /// What was told last. Each tells all that came before as well (RFC 8840 §4.4), so that the newest is enough.
    var told: TrickleFragment?
}

extension CallMachine {
    static let tricklePackage = "trickle-ice"

    /// Takes note of what a message of the far end says of the INFO packages it takes.
    func noteInfoPackages(_ headers: SIPHeaders) {
        if headers.infoPackages.contains(Self.tricklePackage) { trickle.isTaken = true }
    }

    /// Whether the answer to the far end's offer need not wait for candidates.
    var canAnswerBeforeCandidates: Bool {
        trickle.isTaken && negotiation?.remoteOffer?.canTrickle == true
    }

    /// A description goes out now.
    func noteDescriptionSent() {
        trickle.owes = media.connectivity?.isGathered == false
        trickle.told = nil
    }

    /// Tells the far end of candidates that no description has told.
    func tellCandidates(core: inout EngineCore) {
        guard trickle.owes, trickle.isTaken, trickle.request == nil, snapshot.isUp, let session,
            let fragment = media.localCandidates(of: negotiation?.media ?? []), fragment != trickle.told
        else { return }
        var headers = SIPHeaders()
        headers.append("Info-Package", Self.tricklePackage)
        headers.append("Content-Disposition", "Info-Package")
        trickle.told = fragment
        trickle.owes = !fragment.streams.allSatisfy(\.isComplete)
        trickle.request = core.userAgent.sendInfo(
            session, body: MessageBody(contentType: TrickleFragment.mediaType, bytes: fragment.write()),
            headers: headers, at: core.now, actions: &core.actions)
    }

    /// Whether an INFO's end was that of one with candidates.
    func takeCandidatesTold(_ request: RequestID, status: Int, core: inout EngineCore) -> Bool {
        guard request == trickle.request else { return false }
        trickle.request = nil
        if (200..<300).contains(status) {
            tellCandidates(core: &core)
        } else {
            // RFC 6086 §4.2.2: 469 says that the package is not taken after all.
            trickle.isTaken = false
            core.output(.log("the far end takes no candidates after the description: \(status)", handle))
        }
        return true
    }

    /// Candidates of the far end.
    func takeCandidates(_ request: SIPRequest, core: inout EngineCore) {
        trickle.isTaken = true
        guard let body = request.body(ofType: TrickleFragment.mediaType),
            let fragment = TrickleFragment(parsing: body)
        else { return core.output(.log("candidates came that do not parse", handle)) }
        media.addCandidates(fragment, of: negotiation?.media ?? [], core: &core)
        tellCandidates(core: &core)
    }
}
