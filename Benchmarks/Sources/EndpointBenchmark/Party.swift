import Offhook

/// One end of the measured call.
@MainActor final class Party: CallServiceDelegate, CallDelegate {
    let client: Client
    let user: User
    private let camera: FilmCapturer
    private let eye = NullVideoSink()
    private(set) var call: Call?

    init(name: String, film: Film) throws(CallError) {
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(version4: 0x7F00_0001)
        configuration.port = 0
        configuration.mediaSecurity = .sdes
        configuration.videoLimits.startBitrate = Benchmark.bitsPerSecond
        configuration.videoLimits.maximumBitrate = Benchmark.bitsPerSecond
        client = Client(configuration: configuration)
        user = try client.createUser(UserConfiguration(address: "sip:\(name)@127.0.0.1"))
        camera = FilmCapturer(film)
        user.callService.delegate = self
        user.mediaServices.audioInterface.setMicrophone(ToneCapturer(frequency: 440))
        user.mediaServices.audioInterface.setSpeaker(NullAudioSink())
    }

    func place(to address: String) async throws(CallError) {
        let call = try user.callService.createCall(to: address)
        self.call = call
        call.delegate = self
        try await call.setVideoMode(.sendReceive)
        try await call.start()
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        self.call = call
        call.delegate = self
        Task {
            try await call.setVideoMode(.sendReceive)
            try await call.accept()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}
    func callDidEstablish(_ call: Call) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        guard let channel = videoChannels.first, channel.isEnabled else { return camera.setVideoSink(nil) }
        let video = user.mediaServices.videoInterface
        video.remoteVideoSource(for: channel.id)?.setVideoSink(eye)
        camera.setVideoSink(video.localVideoSink(for: channel.id))
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        print("the call failed: \(error)")
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        camera.setVideoSink(nil)
    }
}
