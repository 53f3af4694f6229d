import ExampleConsole
import Foundation
import Offhook

/// Counts in how many pictures something moves: a sink of one's own that looks into what it gets.
final class MotionMeter: VideoSink {
    struct Count: Sendable {
        var pictures = 0
        var picturesWithMotion = 0
        /// How much of the newest picture moved, in per cent.
        var share = 0
    }

    private struct State {
        var fields: [Int] = []
        var count = Count()
    }

    private static let columns = 32, rows = 18
    private let state = Lock(State())

    var count: Count { state.withLock { $0.count } }

    /// Called on a media thread. The pixels are lent, so that what is kept of them is one number a field.
    func handleVideoFrame(_ frame: VideoFrame) {
        let fields = Self.brightness(frame)
        state.withLock { state in
            let moved = zip(fields, state.fields).count { abs($0 - $1) > 8 }
            state.fields = fields
            state.count.pictures += 1
            if moved > 0 { state.count.picturesWithMotion += 1 }
            state.count.share = moved * 100 / fields.count
        }
    }

    /// Of each field of the picture the mean of some of its pixels, whatever size and stride it has.
    private static func brightness(_ frame: VideoFrame) -> [Int] {
        let stride = frame.stride(ofPlane: 0)
        return frame.withPlane(0) { luma in
            (0..<columns * rows).map { field in
                let left = field % columns * frame.width / columns
                let top = field / columns * frame.height / rows
                var sum = 0
                for step in 0..<16 {
                    let x = left + step % 4 * frame.width / columns / 4
                    let y = top + step / 4 * frame.height / rows / 4
                    sum += Int(luma[y * stride + x])
                }
                return sum / 16
            }
        }
    }
}

/// Takes calls, receives their pictures, and says each second what moves.
@main @MainActor final class Watcher {
    static func main() async throws {
        let watcher = try Watcher(port: CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) })
        do {
            try await watcher.user.start()
        } catch {
            Console.say("\(error)")
            exit(1)
        }
        Console.say("Waiting for calls; Ctrl-D ends.")
        for await _ in Console.lines {}
        await watcher.client.shutdown()
    }

    private let client: Client
    private let user: User
    private var meter = MotionMeter()
    private var reports: Task<Void, any Error>?

    init(port: UInt16?) throws {
        var configuration = ClientConfiguration()
        if let port { configuration.port = port }
        client = Client(configuration: configuration)
        user = try client.createUser(UserConfiguration(address: "sip:watcher@localhost"))
        user.callService.delegate = self
    }
}

extension Watcher: CallServiceDelegate, CallDelegate {
    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Console.attempt {
            guard callService.calls.count == 1, call.incomingVideoStatus != .off else {
                return try await call.deny(.busy)
            }
            try await call.setVideoMode(.receiveOnly)
            try await call.accept()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}

    func callDidEstablish(_ call: Call) {
        Console.say("Watching \(call.remoteAddress).")
        meter = MotionMeter()
        reports = Task {
            while true {
                try await Task.sleep(for: .seconds(1))
                Console.say("\(meter.count.share) % of the picture moves.")
            }
        }
    }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        for channel in videoChannels {
            let receives = channel.isEnabled && channel.negotiatedDirection.receives
            user.mediaServices.videoInterface.remoteVideoSource(for: channel.id)?.setVideoSink(receives ? meter : nil)
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        Console.say("\(error)")
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        reports?.cancel()
        let count = meter.count
        Console.say("\(count.pictures) pictures, something moved in \(count.picturesWithMotion).")
    }
}
