// The program that the README prints; `DocumentationTests` looks for it here.

import Offhook

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
            do {
                if call.incomingVideoStatus != .off { try await call.setVideoMode(.receiveOnly) }
                try await call.accept()
            } catch {
                print("The call could not be taken: \(error)")
            }
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

let client = Client()
let user = try client.createUser(UserConfiguration(address: "sip:door@192.0.2.10"))
let doorbell = Doorbell(user: user, screen: try FileRenderer(path: "visitor.png"))
do {
    try await user.start()
    print("Waiting for calls at \(user.listeningEndpoints[.udp]?.description ?? "no port").")
    try await Task.sleep(for: .seconds(600))
} catch {
    print("\(error)")
}
await client.shutdown()
