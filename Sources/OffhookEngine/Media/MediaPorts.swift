/// Names one of the edge's media sockets.
package struct MediaSocketID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Two bound sockets: one for RTP, one for the RTCP of peers that do not multiplex (RFC 5761).
///
/// The edge opens them ahead of need, so that a description with their ports can be made in one go.
package struct MediaPorts: Hashable, Sendable {
    package var rtp: MediaSocketID
    package var rtpPort: UInt16
    package var rtcp: MediaSocketID
    package var rtcpPort: UInt16

    package init(rtp: MediaSocketID, rtpPort: UInt16, rtcp: MediaSocketID, rtcpPort: UInt16) {
        self.rtp = rtp
        self.rtpPort = rtpPort
        self.rtcp = rtcp
        self.rtcpPort = rtcpPort
    }
}
