import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `Lip sync` {
    private let capture = NTPTimestamp(unixNanoseconds: 1_800_000_000_000_000_000)

    @Test func `the side that is ahead is delayed step by step`() {
        var sync = LipSync()
        var turns = 0
        while turns < 100 {
            let audio = LipSync.Point(capture: capture, playout: .zero + .milliseconds(60) + sync.audioDelay)
            let video = LipSync.Point(capture: capture, playout: .zero + .milliseconds(200) + sync.videoDelay)
            guard sync.update(audio: audio, video: video) else { break }
            turns += 1
        }
        #expect(sync.videoDelay == .zero)
        #expect(sync.audioDelay >= .milliseconds(120) && sync.audioDelay <= .milliseconds(160))
        #expect(turns <= 8)
    }

    @Test func `a delay that is not needed goes before another is put on`() {
        var sync = LipSync()
        let late = { (milliseconds: Int) in
            LipSync.Point(capture: capture, playout: .zero + .milliseconds(milliseconds))
        }
        for _ in 0..<3 { _ = sync.update(audio: late(0), video: late(100)) }
        #expect(sync.audioDelay == .milliseconds(60))
        for _ in 0..<4 { _ = sync.update(audio: late(100), video: late(0)) }
        #expect(sync.audioDelay == .zero)
        #expect(sync.videoDelay == .milliseconds(20))
    }

    @Test func `a picture does not wait for sound that is a little late, nor any longer than it must`() {
        var sync = LipSync()
        let played = { (milliseconds: Int, delay: Duration) in
            LipSync.Point(capture: capture, playout: .zero + .milliseconds(milliseconds) + delay)
        }
        let changes = sync.update(audio: played(70, .zero), video: played(15, .zero))
        #expect(!changes)
        for _ in 0..<20 { _ = sync.update(audio: played(200, sync.audioDelay), video: played(15, sync.videoDelay)) }
        #expect(sync.videoDelay >= .milliseconds(125) && sync.videoDelay <= .milliseconds(145))
        for _ in 0..<20 { _ = sync.update(audio: played(50, sync.audioDelay), video: played(15, sync.videoDelay)) }
        #expect(sync.videoDelay <= .milliseconds(5))
        #expect(sync.audioDelay == .zero)
    }

    @Test func `a sender report ties timestamps to the sender's clock`() throws {
        var call = SimulatedCall(.video, seed: 5, path: Path())
        _ = call.streamVideo(seconds: 5)
        let last = try #require(call.right.frames.last)
        let captured = try #require(last.frame.captureTime)

        // Both ends have the same clock here: what is left is the way.
        let sent = NTPTimestamp(unixNanoseconds: 1_800_000_000_000_000_000).advanced(by: last.at - .zero)
        #expect(abs((sent - captured).inMilliseconds - 25) < 1)
        #expect(call.right.session.playoutPoint?.capture == captured)
        #expect(call.right.session.captureTime(of: last.frame.timestamp) == captured)
    }

    @Test func `frames wait as long as the sound needs`() {
        var call = SimulatedCall(.video, seed: 6, path: Path())
        _ = call.streamVideo(seconds: 2)
        call.right.session.setExtraDelay(.milliseconds(120))
        _ = call.streamVideo(seconds: 2)
        call.run(until: call.now + .milliseconds(200))

        #expect(call.right.frames.count == 120)
        #expect(call.right.frames.suffix(30).allSatisfy { $0.at - $0.frame.receiveTime == .milliseconds(120) })
    }
}
