internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookDevices
internal import OffhookMedia

/// The sink that the routes give to a capturer: it has a microphone's sound processed on its way.
final class MicrophoneTap: AudioSink {
    private let routes: AudioRoutes
    private let capturer: any AudioCapturer
    // A capturer brings one frame at a time, so that nobody waits for this lock.
    private let filter = Lock(VoiceFilter())

    init(routes: AudioRoutes, capturer: any AudioCapturer) {
        self.routes = routes
        self.capturer = capturer
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        let identifier = ObjectIdentifier(capturer)
        let processing = routes.processing(of: capturer)
        guard !processing.isIdle else {
            routes.handleCapturedFrame(frame, from: identifier)
            return
        }
        let histories = processing.cancelsEcho ? routes.playoutHistories : []
        let frames = filter.withLock { filter in
            filter.process(
                frame, as: processing,
                isKnown: { time in histories.allSatisfy { $0.isKnown(until: time) } },
                reference: { time, count in
                    histories.reduce(into: [Int16](repeating: 0, count: count)) { sum, history in
                        AudioSamples.mix(history.samples(from: time, count: count), into: &sum)
                    }
                })
        }
        for frame in frames { routes.handleCapturedFrame(frame, from: identifier) }
    }
}
