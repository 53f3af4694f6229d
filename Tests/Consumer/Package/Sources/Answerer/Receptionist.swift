// swift-format-ignore-file: printed as the documentation prints it.
// The flow that the documentation prints, word for word.
import Offhook

final class Receptionist: CallServiceDelegate, CallDelegate {
    let user: User
    let screen: any VideoSink
    let camera = V4L2Capturer()

    init(user: User, screen: any VideoSink) {
        self.user = user
        self.screen = screen
        user.callService.delegate = self
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task {
            switch call.incomingVideoStatus {
            case .supported:
                try await call.setVideoMode(V4L2Capturer.availableCameras().isEmpty ? .receiveOnly : .sendReceive)
            case .indefinite: try await call.setVideoMode(.receiveOnly)
            case .off: break
            }
            try await call.accept()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}

    func callDidEstablish(_ call: Call) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        let video = user.mediaServices.videoInterface
        guard let channel = videoChannels.first else { return }
        if channel.isEnabled, channel.negotiatedDirection.receives {
            video.remoteVideoSource(for: channel.id)?.setVideoSink(screen)
        } else {
            video.remoteVideoSource(for: channel.id)?.setVideoSink(nil)
        }
        if channel.isEnabled, channel.negotiatedDirection.sends {
            camera.setVideoSink(video.localVideoSink(for: channel.id))
            Task { [camera] in try await camera.useCamera(at: .front) }
        } else {
            camera.setVideoSink(nil)
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) { call.end() }
    func callDidEnd(_ call: Call, reason: CallEndReason) {}
}
