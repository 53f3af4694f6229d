package import OffhookBasics
package import OffhookRTP
package import OffhookSIP

/// What was counted of a call.
package struct CallFigures: Sendable {
    package struct Line: Sendable {
        package var statistics: RTPStatistics
        package var sendCodecName: String?
        package var receiveCodecName: String?
        package var suiteName: String?
        package var localPort: UInt16 = 0
        /// Where packets go: what ICE has chosen, else what was signalled or learned.
        package var remote: Endpoint?
        /// Whether they go by a TURN server of ours.
        package var isRelayed = false
    }

    package var audio: Line?
    package var video: Line?
    package var localAddress: IPAddress?
    /// From the INVITE to the answer.
    package var setupDuration: Duration?
    package var establishedAt: Instant?
    package var transport: SIPTransport?
}
