import CBareEndpoint
import Dispatch
import Offhook

/// Processor time of one 720p30 endpoint (VP8, Opus, SRTP; sending and receiving) beside a bare C loop of the same codecs,
/// cipher and socket calls, in turns in one process. Prints the ratio.
@main
struct Benchmark {
    static let bitsPerSecond = 1_500_000
    static let seconds = 10
    static let rounds = 3

    static func main() async throws {
        let film = await Film(count: 60)
        print(
            "720p30, VP8 \(bitsPerSecond / 1000) kbit/s, Opus, AEAD_AES_128_GCM; processor milliseconds a second of one endpoint"
        )
        var ratios: [Double] = []
        for round in 1...rounds {
            let (bare, bareFrames) = try bareEndpoint(film)
            let (ours, frames) = try await offhookEndpoint(film)
            ratios.append(ours / bare)
            print(
                "round \(round): bare C \(Int(bare * 1000)) (\(bareFrames) pictures), Offhook \(Int(ours * 1000)) "
                    + "(\(frames) pictures), ratio \(rounded(ours / bare))")
        }
        ratios.sort()
        print(
            "ratio: median \(rounded(ratios[ratios.count / 2])), least \(rounded(ratios[0])); the goal is at most 1.15")
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    /// Processor seconds a second, and pictures decoded.
    private static func bareEndpoint(_ film: Film) throws -> (Double, Int) {
        let pictures = film.frames.map { frame in
            var picture = bare_picture()
            // The film keeps its pictures, and with them these addresses, for as long as the program runs.
            let planes = (0..<3).map { plane in frame.withPlane(plane) { $0.withUnsafeBufferPointer { $0.baseAddress } }
            }
            picture.planes = (planes[0], planes[1], planes[2])
            picture.strides = (
                Int32(frame.stride(ofPlane: 0)), Int32(frame.stride(ofPlane: 1)), Int32(frame.stride(ofPlane: 2))
            )
            return picture
        }
        var result = bare_result()
        let start = bare_processor_seconds()
        let status = bare_endpoint_run(
            pictures, Int32(pictures.count), 1280, 720, Int32(bitsPerSecond), Int32(seconds), &result)
        guard status == 0 else { throw Failure(reason: "the bare endpoint failed at step \(status)") }
        return ((bare_processor_seconds() - start) / Double(seconds), Int(result.frames_decoded))
    }

    @MainActor private static func offhookEndpoint(_ film: Film) async throws -> (Double, Int) {
        let alice = try Party(name: "alice", film: film)
        let bob = try Party(name: "bob", film: film)
        try await alice.user.start()
        try await bob.user.start()
        guard let address = bob.user.listeningEndpoints[.udp] else { throw Failure(reason: "bob does not listen") }
        try await alice.place(to: "sip:bob@\(address)")
        guard let call = alice.call else { throw Failure(reason: "there is no call") }
        // The first second, with its key frame and start-up, is not measured; the bare loop's is part of a longer run.
        try await Task.sleep(for: .seconds(1))
        let framesBefore = await call.statistics().video.received.frames
        let start = bare_processor_seconds()
        try await Task.sleep(for: .seconds(seconds))
        let used = bare_processor_seconds() - start
        let frames = await call.statistics().video.received.frames - framesBefore
        call.end()
        await alice.client.shutdown()
        await bob.client.shutdown()
        return (used / Double(seconds) / 2, Int(frames))
    }

    struct Failure: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }
}
