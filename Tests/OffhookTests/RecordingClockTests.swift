import OffhookBasics
import OffhookRTP
import Testing

@testable import Offhook

@Suite struct `Recording clocks` {
    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 5_000_000_000) + .milliseconds(milliseconds)
    }

    @Test func `even out jitter, and follow a drift`() {
        var clock = SteadyClock(rate: 48_000)
        var times: [Instant] = []
        // Each packet is seen up to 30 ms late, and the sender's clock is 1 in 1000 fast.
        for index in 0..<5000 {
            let reference = at(index * 20 + [0, 30, 10, 20][index % 4]) - .microseconds(index * 20)
            times.append(clock.time(of: UInt32(truncatingIfNeeded: 4_294_000_000 + index * 960), near: reference))
        }

        let steps = zip(times, times.dropFirst()).map { ($1 - $0).inMilliseconds }
        #expect(steps.allSatisfy { abs($0 - 20) < 1.2 })
        let error = times[4999] - (at(4999 * 20 + 15) - .microseconds(4999 * 20))
        #expect(abs(error.inMilliseconds) < 5)
    }

    @Test func `keep packets of sound together until a whole one is missing or too much`() {
        for drift in [50, -50] {
            var clock = SteadyClock.forSound(rate: 48_000)
            var times: [Instant] = []
            var errors: [Double] = []
            // Each packet is seen up to 30 ms late, and the sender's clock is off by 1 in 400.
            for index in 0..<2000 {
                let even = at(index * 20) + .microseconds(index * drift)
                let reference = even + .milliseconds([0, 30, 10, 20][index % 4])
                let time = clock.time(of: UInt32(truncatingIfNeeded: 4_294_000_000 + index * 960), near: reference)
                times.append(time)
                errors.append((time - even - .milliseconds(15)).inMilliseconds)
            }

            let steps = zip(times, times.dropFirst()).map { ($1 - $0).inMilliseconds }
            let leaps = steps.filter { $0 != 20 }
            #expect((3...6).contains(leaps.count))
            #expect(leaps.allSatisfy { $0 == (drift > 0 ? 40 : 0) })
            #expect(errors.allSatisfy { abs($0) < 36 })
        }
    }

    @Test func `begin anew after a pause that the stream does not count, and where its count jumps`() {
        var clock = SteadyClock(rate: 8000)
        _ = clock.time(of: 1000, near: at(0))

        #expect(clock.time(of: 1160, near: at(3000)) == at(3000))
        #expect(clock.time(of: 4_000_000_000, near: at(3020)) == at(3020))
        #expect(clock.time(of: 4_000_000_160, near: at(3040)) == at(3040))
    }

    @Test func `place pictures beside sound by the far end's clock, once it told it`() {
        var clocks = ReceivedClocks()
        let capture = NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000)
        // Sound is played 100 ms after it was taken, pictures are shown after 40 ms.
        _ = clocks.timeOfSound(RTPTimestamp(0), rate: 48_000, capture: nil, near: at(100))
        #expect(clocks.timeOfPicture(RTPTimestamp(0), capture: nil, near: at(40)) == at(40))

        let sound = clocks.timeOfSound(RTPTimestamp(960), rate: 48_000, capture: capture, near: at(120))
        let picture = clocks.timeOfPicture(
            RTPTimestamp(3600), capture: capture.advanced(by: .milliseconds(20)), near: at(80))

        #expect(sound == at(120))
        #expect(abs((picture - at(140)).inMilliseconds) < 0.01)
    }

    @Test func `do not believe a sender whose clocks are apart by more than a second`() {
        var clocks = ReceivedClocks()
        let capture = NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000)
        _ = clocks.timeOfSound(RTPTimestamp(0), rate: 48_000, capture: capture, near: at(0))

        let picture = clocks.timeOfPicture(
            RTPTimestamp(0), capture: capture.advanced(by: .seconds(9)), near: at(10))

        #expect(picture == at(10))
    }
}
