import Offhook

// Code that the documentation prints; `DocumentationTests` looks for it here.

/// Takes every call and shows its pictures.
final class Doorbell: CallServiceDelegate, CallDelegate {
    let user: User
    let screen: any VideoSink

    init(user: User, screen: any VideoSink) {
        self.user = user
        self.screen = screen
        user.callService.delegate = self
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task {
            if call.incomingVideoStatus != .off { try await call.setVideoMode(.receiveOnly) }
            try await call.accept()
        }
    }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        for channel in videoChannels where channel.negotiatedDirection.receives {
            user.mediaServices.videoInterface.remoteVideoSource(for: channel.id)?.setVideoSink(screen)
        }
    }

    func callDidEstablish(_ call: Call) {}
    func call(_ call: Call, didFailWithError error: CallError) { call.end() }
    func callDidEnd(_ call: Call, reason: CallEndReason) { print("The call ended: \(reason)") }
    func callService(_ callService: CallService, didRemove call: Call) {}
}

func openTheDoor() async throws -> Doorbell {
    let client = Client()
    let user = try client.createUser(UserConfiguration(address: "sip:door@192.0.2.10"))
    let doorbell = Doorbell(user: user, screen: try FileRenderer(path: "visitor.png"))
    try await user.start()
    return doorbell
}
