internal import CV4L2
internal import Glibc
internal import OffhookBasics
internal import OffhookMedia

/// What a capturer and its capture thread share.
final class CameraMailbox: Sendable {
    /// Which camera is wanted.
    enum Target: Sendable {
        case position(CameraPosition)
        case device(CameraDevice, CameraFormat?)
    }

    /// What the thread is asked to do.
    enum Command: Sendable {
        case use(Target, @Sendable (Result<Void, CameraError>) -> Void)
        case release(@Sendable () -> Void)
        case quit
    }

    /// What the thread tells.
    enum News: Sendable {
        case interrupted(CameraError)
        case resumed
        case camerasChanged([CameraDevice])
    }

    let configuration: CameraConfiguration
    let slot = SinkSlot<any VideoSink>()
    let statistics = Lock(CameraStatistics())
    /// Readable when the thread should look at the mailbox.
    let wakeup: Int32
    private let commands = Lock<[Command]>([])
    private let reporter = Lock<(@Sendable (News) -> Void)?>(nil)

    init(configuration: CameraConfiguration) {
        self.configuration = configuration
        wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        precondition(wakeup >= 0, "the system has a descriptor left for the capture thread")
    }

    deinit {
        close(wakeup)
    }

    func setReporter(_ new: @escaping @Sendable (News) -> Void) {
        reporter.withLock { $0 = new }
    }

    func report(_ news: News) {
        reporter.withLock { $0 }?(news)
    }

    func post(_ command: Command) {
        commands.withLock { $0.append(command) }
        wake()
    }

    func wake() {
        var one: UInt64 = 1
        // A full counter wakes as well.
        _ = write(wakeup, &one, 8)
    }

    func takeCommands() -> [Command] {
        var count: UInt64 = 0
        _ = read(wakeup, &count, 8)
        return commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }
}
