internal import CV4L2
internal import Glibc
internal import OffhookBasics
internal import OffhookMedia

/// The capture thread: opens the camera, hands its pictures on, and brings it back when it was away.
final class CameraLoop {
    /// How long a camera may be silent. Exposures in the dark take long, and a first picture longer.
    static let silenceLimit = Duration.seconds(2)
    static let firstPictureLimit = Duration.seconds(5)
    /// How long a camera stays open without a sink.
    static let unwatchedLimit = Duration.seconds(2)
    static let retryInterval = Duration.seconds(1)
    /// How long after a change in the device folder it is looked at; nodes come in pairs and get their rights later.
    static let rescanDelay = Duration.milliseconds(150)

    private struct Chosen {
        var device: CameraDevice
        let format: CameraFormat?
    }

    private let mailbox: CameraMailbox
    private let watcher = DeviceFolderWatcher()
    private let scanner: CameraScanner
    private var known: [CameraDevice] = []
    private var chosen: Chosen?
    private var stream: V4L2Stream?
    private var rate = FrameRateMeter()
    private var interruption: CameraError?
    private var silentAt = Instant.distantFuture
    private var unwatchedAt = Instant.distantFuture
    private var retryAt = Instant.distantFuture
    private var rescanAt = Instant.distantFuture

    init(_ mailbox: CameraMailbox) {
        self.mailbox = mailbox
        scanner = CameraScanner(configuration: mailbox.configuration)
    }

    /// Runs until told to quit.
    func run() {
        known = scanner.scan().cameras
        while true {
            for command in mailbox.takeCommands() {
                switch command {
                case .use(let target, let reply): reply(use(target))
                case .release(let reply):
                    release()
                    reply()
                case .quit: return
                }
            }
            watchSink(MonotonicClock.now)
            handleTimers(MonotonicClock.now)
            wait()
        }
    }

    // MARK: Choosing

    private func use(_ target: CameraMailbox.Target) -> Result<Void, CameraError> {
        let findings = scanner.scan()
        known = findings.cameras
        let wanted: Chosen
        switch target {
        case .device(let device, let format):
            guard let current = CameraScanner.find(device, among: known) else {
                return .failure(missing(device, findings))
            }
            wanted = Chosen(device: current, format: format)
        case .position(let position):
            guard let first = known.first else { return .failure(.notFound(findings)) }
            let match = known.first { $0.position == position } ?? (position == .front ? first : nil)
            guard let match else { return .failure(.notFound(at: position, among: known)) }
            wanted = Chosen(device: match, format: nil)
        }
        // The old camera goes on until the new one streams; only the same one has to be closed first.
        if stream?.device.path == wanted.device.path { release() }
        do {
            let stream = try open(wanted)
            release()
            chosen = wanted
            begin(stream)
            mailbox.statistics.withLock {
                $0 = CameraStatistics()
                $0.device = wanted.device
                $0.format = stream.format
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func missing(_ device: CameraDevice, _ findings: CameraScanner.Findings) -> CameraError {
        if let refusal = findings.refusals.first(where: { $0.path == device.path }) {
            return CameraError(refusal.error, camera: device.name)
        }
        return CameraError(.notFound, "\(device.name) is not there: plug it in, or choose another camera.")
    }

    private func open(_ wanted: Chosen) throws(CameraError) -> V4L2Stream {
        let configuration = mailbox.configuration
        let choice =
            wanted.format.map { CameraFormatChoice($0, frameRate: configuration.frameRate) }
            ?? CameraFormatChoice(
                from: wanted.device.formats, size: configuration.size, frameRate: configuration.frameRate)
        guard let choice else {
            throw CameraError(SystemError(number: EINVAL), camera: wanted.device.name)
        }
        do {
            let device = try V4L2Device(path: wanted.device.path)
            if let slowsDown = configuration.slowsDownInTheDark {
                device.setControl(cv4l2_CID_EXPOSURE_AUTO_PRIORITY, to: slowsDown ? 1 : 0)
            }
            return try V4L2Stream(device, choice: choice)
        } catch {
            throw CameraError(error, camera: wanted.device.name)
        }
    }

    private func begin(_ stream: V4L2Stream) {
        self.stream = stream
        rate = FrameRateMeter()
        retryAt = .distantFuture
        silentAt = MonotonicClock.now + Self.firstPictureLimit
    }

    private func suspend() {
        stream = nil
        silentAt = .distantFuture
    }

    private func release() {
        suspend()
        chosen = nil
        interruption = nil
        retryAt = .distantFuture
    }

    // MARK: Time

    private func watchSink(_ now: Instant) {
        if mailbox.slot.isEmpty {
            if unwatchedAt == .distantFuture { unwatchedAt = now + Self.unwatchedLimit }
            return
        }
        unwatchedAt = .distantFuture
        // It was closed for want of a sink.
        if chosen != nil, stream == nil, retryAt == .distantFuture { retryAt = now }
    }

    private func handleTimers(_ now: Instant) {
        if now >= rescanAt {
            rescanAt = .distantFuture
            rescan(now)
        }
        if now >= unwatchedAt {
            // A camera nobody looks at is switched off, and its light with it.
            suspend()
            retryAt = .distantFuture
        }
        if now >= silentAt, let stream, let chosen {
            // The deadline may have passed while the sink was at work, with a picture waiting.
            if handle(stream.next()) { return }
            if stream === self.stream, now >= silentAt {
                interrupt(.stalled(chosen.device.name))
                suspend()
                retryAt = now
            }
        }
        if now >= retryAt { retry(now) }
    }

    private func rescan(_ now: Instant) {
        let cameras = scanner.scan().cameras
        if cameras != known {
            known = cameras
            mailbox.report(.camerasChanged(cameras))
        }
        if stream == nil, chosen != nil, retryAt != .distantFuture { retryAt = now }
    }

    /// Tries to get the chosen camera back.
    private func retry(_ now: Instant) {
        guard var wanted = chosen else {
            retryAt = .distantFuture
            return
        }
        retryAt = now + Self.retryInterval
        let findings = scanner.scan()
        guard let current = CameraScanner.find(wanted.device, among: findings.cameras) else {
            interrupt(missing(wanted.device, findings))
            return
        }
        wanted.device = current
        do {
            let stream = try open(wanted)
            chosen = wanted
            begin(stream)
            mailbox.statistics.withLock {
                $0.device = current
                $0.format = stream.format
            }
        } catch {
            interrupt(error)
        }
    }

    /// Tells of trouble, once until it is over.
    private func interrupt(_ error: CameraError) {
        guard interruption == nil else { return }
        interruption = error
        mailbox.statistics.withLock { $0.interruptions += 1 }
        mailbox.report(.interrupted(error))
    }

    // MARK: Pictures

    private func wait() {
        let deadline = min(min(silentAt, unwatchedIfOpen), min(retryAt, rescanAt))
        var descriptors = [
            pollfd(fd: mailbox.wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: watcher.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stream?.device.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        var timeout: Int32 = -1
        if deadline != .distantFuture {
            let left = (deadline - MonotonicClock.now).inMilliseconds.rounded(.up)
            timeout = Int32(min(max(left, 0), 60_000))
        }
        guard poll(&descriptors, 3, timeout) > 0 else { return }
        if descriptors[1].revents != 0, watcher.hasVideoNews(), rescanAt == .distantFuture {
            rescanAt = MonotonicClock.now + Self.rescanDelay
        }
        let news = Int32(descriptors[2].revents)
        guard news != 0, let stream else { return }
        if !handle(stream.next()), news & POLLIN == 0, stream === self.stream {
            // The driver has an error and no picture to show it by.
            handleFailure(SystemError(number: ENODEV))
        }
    }

    private var unwatchedIfOpen: Instant { stream == nil ? .distantFuture : unwatchedAt }

    /// Whether something came out of the driver.
    private func handle(_ outcome: V4L2Stream.Outcome) -> Bool {
        switch outcome {
        case .nothing:
            return false
        case .failed(let error):
            handleFailure(error)
        case .damaged(let lost):
            silentAt = MonotonicClock.now + Self.silenceLimit
            mailbox.statistics.withLock {
                $0.framesLost += lost
                $0.framesDamaged += 1
            }
        case .frame(let frame, let lost):
            rate.record(frame.captureTime)
            let measured = rate.rate
            mailbox.statistics.withLock {
                $0.framesLost += lost
                $0.measuredFrameRate = measured
            }
            if interruption != nil {
                interruption = nil
                mailbox.report(.resumed)
            }
            if mailbox.slot.deliver({ $0.handleVideoFrame(frame) }) {
                mailbox.statistics.withLock { $0.frames += 1 }
            }
            silentAt = MonotonicClock.now + Self.silenceLimit
        }
        return true
    }

    private func handleFailure(_ error: SystemError) {
        guard let chosen else { return }
        suspend()
        retryAt = MonotonicClock.now
        // A stream that broke off starts again at once, which is worth telling only if it fails.
        if error.number == ENODEV { interrupt(CameraError(error, camera: chosen.device.name)) }
    }
}
