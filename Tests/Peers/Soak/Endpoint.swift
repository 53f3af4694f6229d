import Offhook

/// A client with one account that takes every call with video.
@MainActor final class Endpoint: CallServiceDelegate, CallDelegate {
    let client: Client
    let user: User
    private let camera = TestPatternCapturer(size: VideoSize(width: 160, height: 120), frameRate: 10)
    private let splitter = CameraSplitter()
    /// Who waits for a call to end.
    private var waiting: [Call.ID: CheckedContinuation<Void, Never>] = [:]
    private var failures: [Call.ID: CallError] = [:]

    init(name: String) throws(CallError) {
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(version4: 0x7F00_0001)
        configuration.port = 0
        configuration.mediaSecurity = .sdes
        client = Client(configuration: configuration)
        user = try client.createUser(UserConfiguration(address: "sip:\(name)@127.0.0.1"))
        user.callService.delegate = self
        user.mediaServices.audioInterface.setMicrophone(ToneCapturer())
        camera.setVideoSink(splitter)
    }

    /// Makes one call, and returns the milliseconds from its start to its answer.
    @discardableResult
    func call(_ other: Endpoint, lasting duration: Duration = .milliseconds(150)) async throws -> Double {
        guard let endpoint = other.user.listeningEndpoints[.udp] else { return 0 }
        let call = try user.callService.createCall(to: "sip:callee@\(endpoint)")
        call.delegate = self
        try await call.setVideoMode(.sendReceive)
        let begin = Instant.now
        try await call.start()
        let setup = (Instant.now - begin).inMilliseconds
        try await Task.sleep(for: duration)
        await withCheckedContinuation { continuation in
            waiting[call.id] = continuation
            call.end()
        }
        if let failure = failures.removeValue(forKey: call.id) { throw failure }
        return setup
    }

    // MARK: News

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task {
            do throws(CallError) {
                try await call.setVideoMode(.sendReceive)
                try await call.accept()
            } catch {
                failures[call.id] = error
                call.end()
            }
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {
        waiting.removeValue(forKey: call.id)?.resume()
    }

    func callDidEstablish(_ call: Call) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        let video = user.mediaServices.videoInterface
        for channel in videoChannels {
            let direction = channel.isEnabled ? channel.negotiatedDirection : .inactive
            video.remoteVideoSource(for: channel.id)?.setVideoSink(direction.receives ? NullVideoSink() : nil)
            splitter.set(direction.sends ? video.localVideoSink(for: channel.id) : nil, for: channel.id)
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        failures[call.id] = error
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        for channel in call.videoChannels { splitter.set(nil, for: channel.id) }
    }
}

/// Gives each picture to all calls.
final class CameraSplitter: VideoSink {
    private let sinks = Lock<[VideoChannel.ID: any VideoSink]>([:])

    func set(_ sink: (any VideoSink)?, for channel: VideoChannel.ID) {
        sinks.withLock { $0[channel] = sink }
    }

    func handleVideoFrame(_ frame: VideoFrame) {
        let all = sinks.withLock { Array($0.values) }
        for sink in all { sink.handleVideoFrame(frame) }
    }
}
