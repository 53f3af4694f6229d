// Looks at microphones and speakers of a sound server as an app sees them; Tests/Sound/run runs it.
//
//   SoundProbe roundtrip SPEAKER MICROPHONE MILLISECONDS   how long a click is under way
//   SoundProbe mute SPEAKER                                whether a device's mute is set and told
//   SoundProbe idle                                        whether the connection ends when nobody uses it
//
// Each writes one JSON object.
import Foundation
import Offhook

@main enum Probe {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("roundtrip", 4): await RoundTrip(arguments[1], arguments[2], Int(arguments[3]) ?? 60).run()
        case ("mute", 2): await Muting.run(arguments[1])
        case ("idle", 1): await Idleness.run()
        default:
            print("usage: SoundProbe roundtrip SPEAKER MICROPHONE MILLISECONDS | mute SPEAKER | idle")
            exit(2)
        }
    }
}

/// Plays clicks and hears them come back.
final class RoundTrip: AudioSink {
    private let speaker: PulseSpeaker
    private let microphone: PulseMicrophone
    private let asked: Int
    private let heard = Lock<[(arrived: Instant, recorded: Instant)]>([])

    init(_ speaker: String, _ microphone: String, _ milliseconds: Int) {
        self.speaker = PulseSpeaker(device: speaker, latency: .milliseconds(milliseconds))
        self.microphone = PulseMicrophone(device: microphone, latency: .milliseconds(max(milliseconds / 3, 10)))
        asked = milliseconds
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        guard let first = frame.samples.firstIndex(where: { $0 > 4000 }) else { return }
        let offset = Duration.nanoseconds(Int64(first) * 1_000_000_000 / 48000)
        heard.withLock { $0.append((.now, frame.captureTime + offset)) }
    }

    func run() async {
        microphone.setAudioSink(self)
        var clicks: [Instant] = []
        let start = ContinuousClock.now
        var speakerLatency: [Double] = []
        var microphoneLatency: [Double] = []
        for frame in 0..<250 {
            try? await Task.sleep(until: start + .milliseconds(20 * frame), clock: .continuous)
            var samples = [Int16](repeating: 0, count: 960)
            if frame >= 100, frame % 25 == 0 {
                for index in 0..<48 { samples[index] = 16000 }
                clicks.append(.now)
                speakerLatency.append(speaker.statistics.latency.inMilliseconds)
                microphoneLatency.append(microphone.statistics.latency.inMilliseconds)
            }
            speaker.handleAudioFrame(AudioFrame(samples: samples))
        }
        try? await Task.sleep(for: .milliseconds(300))
        microphone.setAudioSink(nil)
        // Of each click the first frame that has it.
        var trips: [Double] = []
        var flights: [Double] = []
        for click in clicks {
            guard
                let first = heard.withLock({
                    $0.first { $0.arrived > click && $0.arrived - click < .milliseconds(480) }
                })
            else { continue }
            trips.append((first.arrived - click).inMilliseconds)
            flights.append((first.recorded - click).inMilliseconds)
        }
        write([
            "clicks": Double(clicks.count), "heard": Double(trips.count), "asked": Double(asked),
            "speakerTold": mean(speakerLatency), "microphoneTold": mean(microphoneLatency), "measured": mean(trips),
            "untilRecorded": mean(flights), "speakerDriftPPM": speaker.statistics.driftPPM,
            "microphoneDriftPPM": microphone.statistics.driftPPM, "gaps": Double(speaker.statistics.gaps),
        ])
    }
}

/// Mutes a speaker for all programs, and listens for the news of it.
final class Muting: SoundServerDelegate, Sendable {
    private let news = Lock<[Bool]>([])
    private let name: String

    init(_ name: String) { self.name = name }

    func soundServer(_ server: SoundServer, didChangeDevices devices: AudioDevices) {
        guard let device = devices.speakers.first(where: { $0.id == name }) else { return }
        news.withLock { $0.append(device.isMuted) }
    }

    static func run(_ name: String) async {
        let listener = Muting(name)
        let server = SoundServer(callbackQueue: DispatchQueue(label: "news"))
        server.delegate = listener
        for isMuted in [true, false, true] {
            guard let device = (try? await server.devices())?.speakers.first(where: { $0.id == name }) else { continue }
            server.setMuted(isMuted, of: device)
            for _ in 0..<100 where listener.news.withLock({ $0.last }) != isMuted {
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        let told = listener.news.withLock { $0 }
        write(["changes": Double(told.count), "muted": told.last == true ? 1 : 0])
    }
}

/// Whether a process that used the sound server once keeps no thread for it.
enum Idleness {
    static func run() async {
        let before = threads()
        var count = 0.0
        do { count = Double(try await SoundServer.standard.devices().speakers.count) } catch { count = -1 }
        let during = threads()
        try? await Task.sleep(for: .seconds(3))
        write(["speakers": count, "before": before, "during": during, "after": threads()])
    }

    /// Threads of the sound server's name would do, but they have none: all are counted.
    private static func threads() -> Double {
        Double((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0)
    }
}

func mean(_ values: [Double]) -> Double {
    values.isEmpty ? -1 : values.reduce(0, +) / Double(values.count)
}

func write(_ values: [String: Double]) {
    let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \(($0.value * 100).rounded() / 100)" }
    print("{" + members.joined(separator: ", ") + "}")
}
