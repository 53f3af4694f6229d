package import OffhookBasics

/// The user fragment and password of one side of a stream (RFC 8445 §5.3).
package struct ICECredentials: Hashable, Sendable {
    package var userFragment: String
    package var password: String

    package init(userFragment: String, password: String) {
        self.userFragment = userFragment
        self.password = password
    }

    /// Fresh ones: 48 bits of user fragment (24 are asked for) and 144 of password (128 are asked for).
    package init(random: inout SeededRandom) {
        userFragment = Self.characters(8, random: &random)
        password = Self.characters(24, random: &random)
    }

    private static func characters(_ count: Int, random: inout SeededRandom) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        return String((0..<count).map { _ in alphabet[Int(random.next() >> 58)] })
    }
}

/// What the far side's description says of ICE on a stream.
package struct ICERemoteDescription: Hashable, Sendable {
    package var credentials: ICECredentials
    package var candidates: [ICECandidate]
    /// The far side only answers checks (RFC 8445 §2.5).
    package var isLite: Bool
    /// No more candidates will follow (RFC 8838 §8.2).
    package var isComplete: Bool

    package init(
        credentials: ICECredentials, candidates: [ICECandidate] = [], isLite: Bool = false, isComplete: Bool = false
    ) {
        self.credentials = credentials
        self.candidates = candidates
        self.isLite = isLite
        self.isComplete = isComplete
    }
}
