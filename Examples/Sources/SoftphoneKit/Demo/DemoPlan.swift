import Offhook

/// One call of the demo, and what must come of it.
struct DemoPlan: Sendable {
    let title: String
    let delaysOffer: Bool
    let callerMode: VideoMode?
    let calleeMode: VideoMode?
    /// What the called side must be told.
    let status: IncomingVideoStatus
    /// What the called side must have agreed on; nil for no video.
    let calleeDirection: MediaDirection?

    static let all = [
        DemoPlan(
            title: "offered with video, answered send and receive", delaysOffer: false, callerMode: .sendReceive,
            calleeMode: .sendReceive, status: .supported, calleeDirection: .sendReceive),
        DemoPlan(
            title: "sent without SDP, answered receive only", delaysOffer: true, callerMode: .sendReceive,
            calleeMode: .receiveOnly, status: .indefinite, calleeDirection: .receiveOnly),
        DemoPlan(
            title: "audio only", delaysOffer: false, callerMode: nil, calleeMode: nil, status: .off,
            calleeDirection: nil),
    ]
}
