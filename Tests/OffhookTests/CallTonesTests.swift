import Foundation
@testable import Offhook
import OffhookBasics
import Testing

@Suite struct `Tones of calls` {
    private let queue = callbackQueue()

    private func user(_ plan: TonePlan? = .europe) throws -> (User, ScriptedBackend) {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
        user.mediaServices.audioInterface.callTones = plan
        return (user, backend)
    }

    @Test func `an incoming call rings until it is up`() throws {
        let (user, backend) = try user()
        let tones = user.mediaServices.audioInterface.tones

        let call = try #require(backend.receiveCall(for: user))
        #expect(tones.playing == .tone(.ringing))
        backend.front.apply(.didEstablish, to: call)
        #expect(tones.playing == nil)
    }

    @Test func `nobody who talks is rung at, and the next call rings when the first is over`() throws {
        let (user, backend) = try user()
        let tones = user.mediaServices.audioInterface.tones
        let first = try #require(backend.receiveCall(for: user))
        backend.front.apply(.didEstablish, to: first)

        let second = try #require(backend.receiveCall(for: user))
        #expect(tones.playing == nil)
        backend.front.apply(.didEnd(.cancelled), to: second)
        backend.front.apply(.didEnd(.ended(by: .remote)), to: first)
        backend.receiveCall(for: user)
        #expect(tones.playing == .tone(.ringing))
    }

    @Test func `a caller hears ringback, unless the far end sends its own`() throws {
        let (user, backend) = try user()
        let tones = user.mediaServices.audioInterface.tones
        let call = try user.callService.createCall(to: "sip:bob@example.org")

        backend.front.apply(.didBeginRemoteAlerting(hasEarlyMedia: false), to: call.id)
        #expect(tones.playing == .tone(.ringback))
        backend.front.apply(.didBeginRemoteAlerting(hasEarlyMedia: true), to: call.id)
        #expect(tones.playing == nil)
    }

    private static let endings: [(reason: CallEndReason, tone: CallTones.Sound?)] = [
        (.busy, .tone(.busy)), (.noAnswer, .tone(.congestion)), (.ended(by: .remote), nil), (.cancelled, nil),
    ]

    @Test(arguments: endings)
    func `a caller hears why the call did not come about`(reason: CallEndReason, tone: CallTones.Sound?) throws {
        let (user, backend) = try user()
        let call = try user.callService.createCall(to: "sip:bob@example.org")

        backend.front.apply(.didEnd(reason), to: call.id)

        #expect(user.mediaServices.audioInterface.tones.playing == tone)
    }

    @Test func `sent keys are heard, and nothing without a plan`() async throws {
        let (user, _) = try user()
        let call = try user.callService.createCall(to: "sip:bob@example.org")
        try await call.sendDTMF("1#")
        #expect(user.mediaServices.audioInterface.tones.playing == .keys(["1", "#"]))

        user.mediaServices.audioInterface.callTones = nil
        #expect(user.mediaServices.audioInterface.tones.playing == nil)
        try await call.sendDTMF("2")
        #expect(user.mediaServices.audioInterface.tones.playing == nil)
    }
}

@Suite struct `Echo on the way to the far end` {
    /// Plays noise in syllables to the speaker, which the microphone hears 60 ms later by half; returns how loud the
    /// last 1.2 seconds of what is sent are, in decibels.
    private func loudness(_ mode: AudioProcessing) throws -> Double {
        let (client, _) = ScriptedBackend.client(callbackQueue: callbackQueue())
        let user = try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
        let call = try user.callService.createCall(to: "sip:bob@example.org")
        let audio = user.mediaServices.audioInterface
        let (microphone, speaker, uplink) = (HandFedCapturer(), TellingSpeaker(), PowerMeter())
        audio.echoCancellation = mode
        audio.setMicrophone(microphone)
        audio.setSpeaker(speaker)
        audio.attach(uplink, for: call.id)

        var state: UInt64 = 9
        var played: [[Int16]] = []
        for number in 0..<250 {
            let level: Double = number / 7 % 3 == 2 ? 50 : 4000
            played.append(
                (0..<960).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return Int16((Double(state >> 40) / Double(1 << 24) - 0.5) * 2 * level)
                })
            let now = Instant(nanoseconds: Int64(number + 100) * 20_000_000)
            audio.handleReceivedFrame(AudioFrame(samples: played[number], captureTime: now), of: call.id)
            guard number >= 5 else { continue }
            // What the speaker was given five frames ago is heard from two frames ago on, and comes back three later.
            let echo = played[number - 5].map { $0 / 2 }
            microphone.deliver(AudioFrame(samples: echo, captureTime: now))
        }
        return uplink.decibels
    }

    @Test func `is cancelled where that is on, and a capturer of the app's own is left alone`() throws {
        let off = try loudness(.automatic)
        let on = try loudness(.on)

        #expect(off > 50)
        #expect(off - on > 15)
    }
}

/// A speaker whose sound is heard 40 ms after it was given.
private final class TellingSpeaker: AudioPlayer {
    private let observers = Lock<[any AudioSink]>([])

    func addPlayoutObserver(_ observer: any AudioSink) { observers.withLock { $0.append(observer) } }
    func removePlayoutObserver(_ observer: any AudioSink) { observers.withLock { $0.removeAll { $0 === observer } } }

    func handleAudioFrame(_ frame: AudioFrame) {
        var frame = frame
        frame.captureTime = frame.captureTime + .milliseconds(40)
        for observer in observers.withLock({ $0 }) { observer.handleAudioFrame(frame) }
    }
}

private final class HandFedCapturer: AudioCapturer {
    private let sink = Lock<(any AudioSink)?>(nil)

    func setAudioSink(_ sink: (any AudioSink)?) { self.sink.withLock { $0 = sink } }
    func deliver(_ frame: AudioFrame) { sink.withLock { $0 }?.handleAudioFrame(frame) }
}

/// How loud the newest 1.2 seconds are.
private final class PowerMeter: AudioSink {
    private let energies = Lock<[Double]>([])

    var decibels: Double {
        let last = energies.withLock { $0.suffix(60) }
        return 10 * log10(last.reduce(0, +) / Double(max(last.count, 1)) + 1e-9)
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        let energy = frame.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(frame.samples.count, 1))
        energies.withLock { $0.append(energy) }
    }
}
