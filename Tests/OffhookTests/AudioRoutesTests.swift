@testable import Offhook
import OffhookBasics
import Testing

@Suite struct `Audio routes` {
    private let queue = callbackQueue()
    private let frame = AudioFrame(samples: [1000, -2000], sampleRate: 8000)

    private func calls(_ count: Int) throws -> (AudioInterface, [Call]) {
        let (client, _) = ScriptedBackend.client(callbackQueue: queue)
        let user = try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
        let calls = try (0..<count).map { _ in try user.callService.createCall(to: "sip:bob@example.org") }
        return (user.mediaServices.audioInterface, calls)
    }

    @Test func `a microphone is open while a call uses it`() throws {
        let (audio, calls) = try calls(1)
        let microphone = ManualCapturer()
        let uplink = KeepingSink()

        audio.setMicrophone(microphone)
        #expect(!microphone.isOpen)
        audio.attach(uplink, for: calls[0].id)
        #expect(microphone.isOpen)
        microphone.deliver(frame)
        audio.detach(calls[0].id)
        #expect(!microphone.isOpen)

        #expect(uplink.frames == [[1000, -2000]])
    }

    @Test func `one microphone feeds every call that has none of its own`() throws {
        let (audio, calls) = try calls(2)
        let shared = ManualCapturer()
        let own = ManualCapturer()
        let uplinks = [KeepingSink(), KeepingSink()]
        audio.setMicrophone(shared)
        audio.setMicrophone(own, for: calls[1])
        for (call, uplink) in zip(calls, uplinks) { audio.attach(uplink, for: call.id) }

        shared.deliver(frame)
        own.deliver(AudioFrame(samples: [7]))
        audio.setMicrophone(nil, for: calls[1])
        shared.deliver(frame)

        #expect(uplinks[0].frames == [[1000, -2000], [1000, -2000]])
        #expect(uplinks[1].frames == [[7], [1000, -2000]])
        #expect(!own.isOpen)
    }

    @Test func `a muted microphone sends silence and a gain clips`() throws {
        let (audio, calls) = try calls(1)
        let microphone = ManualCapturer()
        let uplink = KeepingSink()
        audio.setMicrophone(microphone)
        audio.attach(uplink, for: calls[0].id)

        audio.isMicrophoneMuted = true
        microphone.deliver(frame)
        audio.isMicrophoneMuted = false
        audio.microphoneGain = 100
        microphone.deliver(AudioFrame(samples: [1000, -20000]))

        #expect(uplink.frames == [[0, 0], [8000, -32768]])
        #expect(audio.microphoneGain == 8)
        #expect(audio.microphoneLevel < 0 && audio.microphoneLevel > -10)
    }

    @Test func `calls on one speaker are mixed and one on its own is passed through`() throws {
        let (audio, calls) = try calls(3)
        let speaker = KeepingSink()
        let own = KeepingSink()
        audio.setSpeaker(speaker)
        audio.setSpeaker(own, for: calls[2])

        audio.handleReceivedFrame(AudioFrame(samples: [100, 30000]), of: calls[0].id)
        audio.handleReceivedFrame(AudioFrame(samples: [10, 10000]), of: calls[1].id)
        audio.handleReceivedFrame(AudioFrame(samples: [200, 30000]), of: calls[0].id)
        audio.handleReceivedFrame(AudioFrame(samples: [5, 5]), of: calls[2].id)

        #expect(speaker.frames == [[100, 30000], [210, 32767]])
        #expect(own.frames == [[5, 5]])
    }

    @Test func `the far ends of joined calls hear each other beside us until one leaves`() throws {
        let (audio, calls) = try calls(3)
        let microphone = ManualCapturer()
        let uplinks = calls.map { _ in KeepingSink() }
        audio.setMicrophone(microphone)
        for (call, uplink) in zip(calls, uplinks) { audio.attach(uplink, for: call.id) }
        audio.join(calls[0].id, calls[1].id)

        for _ in 0..<2 {
            microphone.deliver(frame)
            audio.handleReceivedFrame(AudioFrame(samples: [10, 20], sampleRate: 8000), of: calls[0].id)
            audio.handleReceivedFrame(AudioFrame(samples: [3, 4], sampleRate: 8000), of: calls[2].id)
        }
        audio.detach(calls[0].id)
        microphone.deliver(frame)

        #expect(uplinks[0].frames == [[1000, -2000], [1000, -2000]])
        #expect(uplinks[1].frames == [[1000, -2000], [1010, -1980], [1000, -2000]])
        #expect(uplinks[2].frames == [[1000, -2000], [1000, -2000], [1000, -2000]])
    }

    @Test func `the others are heard when the call that set the pace falls silent`() throws {
        let (audio, calls) = try calls(2)
        let speaker = KeepingSink()
        audio.setSpeaker(speaker)
        audio.handleReceivedFrame(frame, of: calls[0].id)

        for _ in 0..<12 { audio.handleReceivedFrame(AudioFrame(samples: [1]), of: calls[1].id) }

        #expect(speaker.frames.count > 1)
        #expect(speaker.frames.last == [1])
    }

    @Test func `a sound played to the far end takes the place of the microphone until it is stopped`() throws {
        let (audio, calls) = try calls(1)
        let microphone = ManualCapturer()
        let announcement = ManualCapturer()
        let uplink = KeepingSink()
        audio.setMicrophone(microphone)
        audio.attach(uplink, for: calls[0].id)

        audio.play(announcement, to: .remote(calls[0]))
        microphone.deliver(frame)
        announcement.deliver(AudioFrame(samples: [3]))
        audio.play(nil, to: .remote(calls[0]))
        microphone.deliver(frame)

        #expect(uplink.frames == [[3], [1000, -2000]])
    }

    @Test func `a sound played here takes the place of the calls`() throws {
        let (audio, calls) = try calls(1)
        let ringing = ManualCapturer()
        let speaker = KeepingSink()
        audio.setSpeaker(speaker)

        audio.play(ringing, to: .speaker)
        ringing.deliver(AudioFrame(samples: [9]))
        audio.handleReceivedFrame(frame, of: calls[0].id)
        audio.play(nil, to: .speaker)
        audio.handleReceivedFrame(frame, of: calls[0].id)

        #expect(speaker.frames == [[9], [1000, -2000]])
        #expect(!ringing.isOpen)
    }
}

private final class ManualCapturer: AudioCapturer {
    private let sink = Lock<(any AudioSink)?>(nil)

    func setAudioSink(_ sink: (any AudioSink)?) {
        self.sink.withLock { $0 = sink }
    }

    var isOpen: Bool { sink.withLock { $0 } != nil }

    func deliver(_ frame: AudioFrame) {
        sink.withLock { $0 }?.handleAudioFrame(frame)
    }
}

private final class KeepingSink: AudioSink {
    private let kept = Lock<[[Int16]]>([])

    var frames: [[Int16]] { kept.withLock { $0 } }

    func handleAudioFrame(_ frame: AudioFrame) {
        kept.withLock { $0.append(frame.samples) }
    }
}
