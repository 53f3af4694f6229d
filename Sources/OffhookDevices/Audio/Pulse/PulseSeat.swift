internal import CPulse
internal import OffhookBasics

/// The stream of one end, kept as the end wishes; used on the connection's thread alone.
final class PulseSeat {
    /// How long the server has to move a stream to a new default by itself.
    private static let moveTime = Duration.milliseconds(250)
    private static let retryInterval = Duration.seconds(1)

    private let end: any PulseEnd
    private let pulse: cpulse_functions
    private var stream: PulseStream?
    /// The device that the stream was opened for, or has been moved to since.
    private var target: String?
    /// Whether sound has flowed by way of the stream.
    private var wasReady = false
    private var toldDevice: String?
    private var isTroubleTold = false
    private var toldSubstitute: String?
    private var mayOpenAt = Instant.zero
    private var mustMoveAt: Instant?
    private(set) var nextDeadline: Instant?

    init(_ end: any PulseEnd, _ pulse: cpulse_functions) {
        (self.end, self.pulse) = (end, pulse)
    }

    func close() {
        stream?.close()
        (stream, target, mustMoveAt, nextDeadline) = (nil, nil, nil, nil)
    }

    /// The server is not there.
    func lose(_ error: SoundError) {
        close()
        guard end.wish.isOpen else {
            isTroubleTold = false
            return
        }
        tell(error)
    }

    private func tell(_ error: SoundError) {
        guard !isTroubleTold else { return }
        isTroubleTold = true
        toldDevice = nil
        end.handle(.interrupted(error))
    }

    func step(devices: AudioDevices, context: OpaquePointer, at now: Instant) {
        nextDeadline = nil
        let wish = end.wish
        guard wish.isOpen else {
            close()
            (isTroubleTold, toldDevice, toldSubstitute, mayOpenAt) = (false, nil, nil, .zero)
            return
        }
        if let stream, stream.state == .failed {
            if !wasReady {
                tell(
                    SoundError(
                        .failed,
                        "The sound server opens no \(end.kind.rawValue) on \(target ?? "its default"); it is asked again."
                    ))
            }
            close()
            // Where it fails time and again, it is not tried without end.
            mayOpenAt = max(mayOpenAt, now)
        }
        guard let best = choose(wish, among: devices) else {
            close()
            tell(
                SoundError(
                    .noDevice,
                    "The machine has no \(end.kind.rawValue): plug one in; until then the call goes on without."))
            return
        }
        if let stream {
            check(stream, wish, best, at: now)
        }
        guard stream == nil else { return }
        guard now >= mayOpenAt else {
            nextDeadline = mayOpenAt
            return
        }
        mayOpenAt = now + Self.retryInterval
        (target, wasReady) = (best, false)
        // Without a name the server follows its own default, and a person may move the stream.
        let name = wish.device == nil ? nil : best
        stream = PulseStream(end, wish: wish, device: name, pulse: pulse, context: context) {}
        if stream == nil {
            tell(SoundError(.failed, "The sound server opens no stream on \(best)."))
            nextDeadline = mayOpenAt
        }
    }

    /// The wished-for device, else the default one, else any.
    private func choose(_ wish: PulseWish, among devices: AudioDevices) -> String? {
        let list = devices[end.kind]
        let fallback = (list.first { $0.isDefault } ?? list.first { !$0.isMonitor } ?? list.first)?.id
        guard let word = wish.device else {
            toldSubstitute = nil
            return fallback
        }
        if let wished = AudioDevice.named(word, in: list) {
            toldSubstitute = nil
            return wished.id
        }
        if let fallback, toldSubstitute != word {
            toldSubstitute = word
            let names = list.map { "“\($0.name)”" }.joined(separator: ", ")
            end.handle(
                .substituted(
                    SoundError(
                        .notFound,
                        "There is no \(end.kind.rawValue) “\(word)”, so the default one is used; there are \(names)."
                    )))
            return fallback
        }
        return fallback
    }

    /// Tells where a stream is, and closes it where it should be elsewhere.
    private func check(_ stream: PulseStream, _ wish: PulseWish, _ best: String, at now: Instant) {
        if let device = stream.device {
            wasReady = true
            if device != toldDevice {
                toldDevice = device
                isTroubleTold = false
                end.handle(.opened(device: device))
            }
            if device == best {
                (target, mustMoveAt) = (best, nil)
            }
        }
        if wish != stream.wish {
            close()
            mayOpenAt = now
        } else if target != best {
            // The default has changed, or a device has come or gone. Servers move streams by themselves; what they
            // leave behind is opened anew.
            let deadline = mustMoveAt ?? now + Self.moveTime
            mustMoveAt = deadline
            if now >= deadline {
                close()
                mayOpenAt = now
            } else {
                nextDeadline = deadline
            }
        }
    }
}
