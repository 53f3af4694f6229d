internal import OffhookBasics
internal import OffhookSIP

/// One request that was challenged: whom it answered, and how often.
struct ChallengedRequest: Sendable {
    let account: AccountHandle
    /// How often this request answered each who asked.
    var answers: [DigestClient.Space: Int] = [:]
    /// Those whose latest challenge is not answered yet.
    var open: [DigestClient.Space] = []
    /// Those that did not take the password they got.
    var refused: Set<DigestClient.Space> = []
    /// Those whose refusal may have been of a repeat.
    var doubted: Set<DigestClient.Space> = []
    /// When it was sent with answers.
    var answeredAt: Instant?
}

/// Answering challenges with an account's credentials (RFC 3261 §22).
extension EngineCore {
    /// Takes a challenge to one of the account's requests: answers it, asks for the password, or gives up.
    mutating func receiveChallenge(_ response: SIPResponse, of request: RequestID, account: AccountHandle) {
        let challenges = DigestClient.challenges(in: response)
        guard digests[account] != nil, !challenges.isEmpty else {
            if digests[account] != nil {
                output(.log("a server asks for credentials in a way that is not supported here", nil))
            }
            return decline(request)
        }
        var entry = challenged[request] ?? ChallengedRequest(account: account)
        entry.open = challenges.map(\.space)
        for challenge in challenges {
            let count = entry.answers[challenge.space] ?? 0
            // A stale nonce says nothing about the password (RFC 7616 §3.3), but nobody's nonces are stale for ever.
            guard count < Self.answerLimit else { return decline(request) }
            if count > 0, !challenge.isStale, !mayAnswerRepeat(response, entry, of: challenge.space) {
                entry.refused.insert(challenge.space)
                digests[account]?.setPassword(nil, for: challenge.space)
            }
            if count > 0, !challenge.isStale { entry.doubted.insert(challenge.space) }
            digests[account]?.learn(challenge)
        }
        challenged[request] = entry
        answerChallenge(of: request)
    }

    /// Whether a refusal is perhaps of a datagram that came twice: its nonce had been used then, and some registrars say so
    /// without calling it stale. Such an answer is not taken for a word about the password the first time.
    private func mayAnswerRepeat(
        _ response: SIPResponse, _ entry: ChallengedRequest, of space: DigestClient.Space
    ) -> Bool {
        guard response.headers.topVia?.transport.uppercased() == "UDP", !entry.doubted.contains(space),
            let answeredAt = entry.answeredAt
        else { return false }
        return now - answeredAt >= configuration.userAgent.timers.t1
    }

    /// Takes what `.credentialsNeeded` asked for; nil gives up.
    mutating func receivePassword(_ password: String?, for question: CredentialQuestion) {
        guard let request = credentialQuestions.removeValue(forKey: question), let entry = challenged[request],
            let space = entry.open.first(where: { digests[entry.account]?.hasPassword(for: $0) != true })
        else { return }
        guard let password else { return decline(request) }
        digests[entry.account]?.setPassword(password, for: space)
        answerChallenge(of: request)
    }

    /// Sends the request again once all passwords are known, and asks for the first that is not.
    private mutating func answerChallenge(of id: RequestID) {
        guard var entry = challenged[id], let request = userAgent.openRequest(id) else {
            challenged[id] = nil
            return
        }
        if let missing = entry.open.first(where: { digests[entry.account]?.hasPassword(for: $0) != true }) {
            let question = CredentialQuestion(number: nextNumber())
            credentialQuestions[question] = id
            let isRepeated = entry.refused.contains(missing)
            output(.credentialsNeeded(question, entry.account, realm: missing.realm, isRepeated: isRepeated))
            return
        }
        for space in entry.open { entry.answers[space, default: 0] += 1 }
        entry.open = []
        entry.answeredAt = now
        challenged[id] = entry
        let headers = credentials(
            for: Set(entry.answers.keys), account: entry.account, method: request.method, uri: request.uri,
            body: request.body)
        userAgent.authorize(id, headers: headers, at: now, actions: &actions)
    }

    private mutating func decline(_ request: RequestID) {
        challenged[request] = nil
        userAgent.declineAuthorization(request, at: now, actions: &actions)
    }

    private mutating func credentials(
        for spaces: Set<DigestClient.Space>, account: AccountHandle, method: SIPMethod, uri: URI, body: [UInt8]
    ) -> SIPHeaders {
        digests[account]?.headers(
            for: spaces, method: method, uri: uri.description, body: body, random: &random) ?? SIPHeaders()
    }

    /// Credentials for a request that nobody challenged yet, for those who did challenge earlier ones.
    mutating func earlyCredentials(
        of account: AccountHandle, method: SIPMethod, uri: URI, body: [UInt8] = []
    ) -> SIPHeaders {
        guard let spaces = digests[account]?.spaces(for: method), !spaces.isEmpty else { return SIPHeaders() }
        return credentials(for: spaces, account: account, method: method, uri: uri, body: body)
    }

    /// Forgets what belongs to requests that are over.
    mutating func forgetChallenges(where isOver: (RequestID) -> Bool) {
        for id in challenged.keys where isOver(id) { challenged[id] = nil }
        for (question, id) in credentialQuestions where isOver(id) { credentialQuestions[question] = nil }
    }

    /// A session's call is over; what it still sends may be challenged for a while.
    mutating func noteEnd(of session: SessionID, account: AccountHandle) {
        guard digests[account] != nil else { return forgetChallenges { $0.session == session } }
        if endedSessions.count >= Self.endedLimit {
            let oldest = endedSessions.removeFirst().session
            forgetChallenges { $0.session == oldest }
        }
        endedSessions.append((session, account))
    }

    private static var endedLimit: Int { 64 }
    private static var answerLimit: Int { 3 }
}
