/// A data stream of an agent: one media line, or all lines of a bundle. It has a check list of its own (RFC 8445 §6.1.2).
package struct ICEStreamID: Hashable, Comparable, Sendable {
    package var rawValue: Int

    package init(_ rawValue: Int) {
        self.rawValue = rawValue
    }

    package static func < (left: ICEStreamID, right: ICEStreamID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// One transport flow of a data stream (RFC 8445 §4): component 1 is RTP, 2 is RTCP where it has a port of its own.
package struct ICEComponentID: Hashable, Comparable, Sendable {
    package static let rtp: UInt16 = 1
    package static let rtcp: UInt16 = 2

    package var stream: ICEStreamID
    package var component: UInt16

    package init(_ stream: ICEStreamID, _ component: UInt16 = ICEComponentID.rtp) {
        self.stream = stream
        self.component = component
    }

    package static func < (left: ICEComponentID, right: ICEComponentID) -> Bool {
        (left.stream, left.component) < (right.stream, right.component)
    }
}
