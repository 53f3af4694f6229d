import Offhook

/// The same on the main actor, as an app with a window has it.
@MainActor final class MainReceptionist: @MainActor CallServiceDelegate, @MainActor CallDelegate {
    let user: User
    let screen: any VideoSink
    private(set) var endReason: CallEndReason?

    init(user: User, screen: any VideoSink) {
        self.user = user
        self.screen = screen
        user.callService.delegate = self
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task { await answer(call) }
    }

    private func answer(_ call: Call) async {
        do {
            if call.incomingVideoStatus == .supported { try await call.setVideoMode(.receiveOnly) }
            try await call.accept()
        } catch {
            print("The call could not be answered: \(error)")
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}
    func callDidEstablish(_ call: Call) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        guard let channel = videoChannels.first else { return }
        let receives = channel.isEnabled && channel.negotiatedDirection.receives
        let source = user.mediaServices.videoInterface.remoteVideoSource(for: channel.id)
        source?.setVideoSink(receives ? screen : nil)
    }

    func call(_ call: Call, didFailWithError error: CallError) { call.end() }
    func callDidEnd(_ call: Call, reason: CallEndReason) { endReason = reason }
}
