import Offhook

/// One of the two ends of the demo: a client of its own, a moving picture and a tone.
@MainActor final class DemoEndpoint: CallServiceDelegate, CallDelegate {
    let name: String
    /// The tone this end sends, in hertz.
    let tone: Double
    let user: User
    private let client: Client
    private let camera = TestPatternCapturer()

    /// What this end does with an incoming call's video.
    var answerMode: VideoMode?
    private(set) var call: Call?
    private(set) var isEstablished = false
    private(set) var isOver = false
    private(set) var error: CallError?
    private(set) var videoDirection: MediaDirection?

    /// What reads this end's received pictures.
    private(set) var pictures = PictureChecker()
    /// What listens to this end's received sound.
    private var ear = ToneDetector()
    /// The cleanest tone heard.
    private(set) var heard: ToneDetector.Result?
    private var film: IVFSink?
    private var recorder: WAVRecorder?

    init(name: String, tone: Double) throws(CallError) {
        self.name = name
        self.tone = tone
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(version4: 0x7F00_0001)
        configuration.port = 0
        configuration.mediaSecurity = .sdes
        client = Client(configuration: configuration)
        user = try client.createUser(UserConfiguration(address: "sip:\(name)@127.0.0.1"))
        user.callService.delegate = self
        user.mediaServices.audioInterface.setMicrophone(ToneCapturer(frequency: tone))
    }

    func start() async throws(CallError) {
        try await user.start()
    }

    func shutdown() async {
        await client.shutdown()
    }

    /// How others call this end.
    var address: String? {
        user.listeningEndpoints[.udp].map { "sip:\(name)@\($0)" }
    }

    /// Forgets the last call and takes what the next one brings.
    func prepare(answerMode: VideoMode?, snapshot: FileRenderer?, film: IVFSink?, recorder: WAVRecorder?) {
        self.answerMode = answerMode
        (call, isEstablished, isOver, error, videoDirection) = (nil, false, false, nil, nil)
        pictures = PictureChecker(snapshot: snapshot)
        (ear, heard) = (ToneDetector(), nil)
        self.film = film
        self.recorder = recorder
        let sinks: [any AudioSink] = [ear] + (recorder.map { [$0] } ?? [])
        user.mediaServices.audioInterface.setSpeaker(AudioSplitter(sinks))
    }

    /// Calls another end; returns when it has answered.
    func place(_ plan: DemoPlan, to address: String) async throws(CallError) {
        var options = CallOptions()
        options.delaysOffer = plan.delaysOffer
        let call = try user.callService.createCall(to: address, options: options)
        self.call = call
        call.delegate = self
        if let mode = plan.callerMode { try await call.setVideoMode(mode) }
        try await call.start()
    }

    /// Listens once more, and keeps the cleanest of what was heard: a busy machine tears holes into any sound.
    func listen() {
        guard let result = ear.result, result.share > heard?.share ?? 0 else { return }
        heard = result
    }

    /// Whether enough has arrived to judge the call by.
    func hasProof(ofTone tone: Double) -> Bool {
        let sees = videoDirection?.receives != true || pictures.findings.readable >= PictureChecker.snapshotPicture
        return sees && heard.map { $0.share > 0.5 && abs($0.frequency - tone) < 10 } == true
    }

    // MARK: News

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        self.call = call
        call.delegate = self
        Task {
            do throws(CallError) {
                if let answerMode { try await call.setVideoMode(answerMode) }
                try await call.accept()
            } catch {
                self.error = error
                call.end()
            }
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {
        isOver = true
    }

    func callDidEstablish(_ call: Call) {
        isEstablished = true
    }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        guard let channel = videoChannels.first else { return }
        let video = user.mediaServices.videoInterface
        videoDirection = channel.isEnabled ? channel.negotiatedDirection : nil
        let receives = channel.isEnabled && channel.negotiatedDirection.receives
        let sends = channel.isEnabled && channel.negotiatedDirection.sends
        video.remoteVideoSource(for: channel.id)?.setVideoSink(receives ? pictures : nil)
        video.setEncodedVideoSink(receives ? film : nil, for: channel.id)
        camera.setVideoSink(sends ? video.localVideoSink(for: channel.id) : nil)
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        self.error = error
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        camera.setVideoSink(nil)
    }
}
