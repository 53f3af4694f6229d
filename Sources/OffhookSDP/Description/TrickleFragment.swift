/// The body of an INFO that tells of ICE candidates found since the description (RFC 8840 §9): `application/trickle-ice-sdpfrag`.
package struct TrickleFragment: Hashable, Sendable {
    /// What it says of one stream.
    package struct Stream: Hashable, Sendable {
        package var mid: String?
        package var userFragment: String
        package var password: String
        package var candidates: [ICECandidateAttribute]
        /// No more will come (RFC 8840 §8.2).
        package var isComplete: Bool

        package init(
            mid: String?, userFragment: String, password: String, candidates: [ICECandidateAttribute], isComplete: Bool
        ) {
            self.mid = mid
            self.userFragment = userFragment
            self.password = password
            self.candidates = candidates
            self.isComplete = isComplete
        }
    }

    package static let mediaType = "application/trickle-ice-sdpfrag"
    /// Far more than any session has.
    private static let streamLimit = 32

    package var streams: [Stream]

    package init(streams: [Stream]) {
        self.streams = streams
    }

    /// Reads a body; what it does not know is passed over. Nil where no stream has credentials.
    package init?(parsing bytes: [UInt8]) {
        var head = MediaDescription(kind: "", port: 0, profile: "", formats: [])
        var sections: [MediaDescription] = []
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") {
                guard sections.count < Self.streamLimit else { break }
                sections.append(MediaDescription(kind: "", port: 0, profile: "", formats: []))
            } else if line.hasPrefix("a=") {
                let attribute = SDPLine.attribute(SDPAttribute(parsing: line.dropFirst(2)))
                if sections.isEmpty {
                    head.lines.append(attribute)
                } else {
                    sections[sections.count - 1].lines.append(attribute)
                }
            }
        }
        let isComplete = head.hasAttribute("end-of-candidates")
        streams = sections.compactMap { section in
            guard let userFragment = section.iceUserFragment ?? head.iceUserFragment,
                let password = section.icePassword ?? head.icePassword
            else { return nil }
            return Stream(
                mid: section.mid, userFragment: userFragment, password: password, candidates: section.candidates,
                isComplete: isComplete || section.hasAttribute("end-of-candidates"))
        }
        guard !streams.isEmpty else { return nil }
    }

    /// The body. The `m=` lines are fillers that nobody reads: the `mid` tells the streams apart (RFC 8840 §9.2).
    package func write() -> [UInt8] {
        var text = ""
        for stream in streams {
            text += "m=audio 9 RTP/AVP 0\r\n"
            if let mid = stream.mid { text += "a=mid:\(mid)\r\n" }
            text += "a=ice-ufrag:\(stream.userFragment)\r\na=ice-pwd:\(stream.password)\r\n"
            for candidate in stream.candidates { text += "a=candidate:\(candidate.text)\r\n" }
            if stream.isComplete { text += "a=end-of-candidates\r\n" }
        }
        return Array(text.utf8)
    }
}

extension SessionDescription {
    /// Whether the describing side takes candidates one by one (RFC 8840 §4.1).
    package var canTrickle: Bool {
        iceOptions.contains("trickle") || media.contains { $0.iceOptions.contains("trickle") }
    }
}
