public import Dispatch
internal import OffhookBasics
public import OffhookMedia

/// A camera of the machine, by Linux's video interface.
///
/// Pictures come as I420 on a capture thread of the capturer's own, with the time at which the driver took them. All
/// methods may be called on any thread.
///
/// ```swift
/// let camera = V4L2Capturer()
/// camera.setVideoSink(sink)
/// try await camera.useCamera(at: .front)
/// ```
///
/// A camera that is unplugged, or falls silent, is waited for: the delegate hears of it once, and pictures go on when
/// the camera does. It is known by ``CameraDevice/id``, so that it may come back under another node.
public final class V4L2Capturer: VideoCapturer {
    /// What is wanted of the camera.
    public let configuration: CameraConfiguration

    private let mailbox: CameraMailbox
    private let newsQueue: DispatchQueue
    private let isStarted = Lock(false)
    private let listener = DelegateBox<any V4L2CapturerDelegate>()

    /// Makes a capturer that uses no camera yet.
    ///
    /// - Parameters:
    ///   - configuration: what is wanted of the camera.
    ///   - callbackQueue: where the delegate is called, one at a time even if the queue is concurrent.
    public init(configuration: CameraConfiguration = .init(), callbackQueue: DispatchQueue = .main) {
        self.configuration = configuration
        newsQueue = .news(on: callbackQueue)
        mailbox = CameraMailbox(configuration: configuration)
        mailbox.setReporter { [weak self] news in self?.tell(news) }
    }

    deinit {
        mailbox.post(.quit)
    }

    /// The cameras that are plugged in now, front one first.
    public static func availableCameras() -> [CameraDevice] {
        availableCameras(configuration: .init())
    }

    /// The cameras that are plugged in now, with positions by a configuration.
    public static func availableCameras(configuration: CameraConfiguration) -> [CameraDevice] {
        CameraScanner(configuration: configuration).scan().cameras
    }

    /// The controls of a camera, with their values now. It need not be in use, and may be: listing disturbs nothing. Waits
    /// for the driver, which takes milliseconds.
    public static func controls(of device: CameraDevice) throws(CameraError) -> [CameraControl] {
        do { return try V4L2Device(path: device.path).controls() } catch {
            throw CameraError(error, camera: device.name)
        }
    }

    /// Sets a control of a camera, in use or not. The camera keeps the value until it is unplugged or another program sets it.
    ///
    /// - Throws: ``CameraErrorCode/controlNotSettable`` where the camera has no such control, cannot set it now, or does not
    ///   take the value.
    public static func setControl(
        _ identifier: CameraControl.ID, to value: Int, of device: CameraDevice
    ) throws(CameraError) {
        let node: V4L2Device
        do { node = try V4L2Device(path: device.path) } catch { throw CameraError(error, camera: device.name) }
        guard let control = node.cameraControl(identifier) else {
            throw CameraError(
                .controlNotSettable, "\(device.name) has no such control: choose one of those that it lists.")
        }
        guard control.isSettable else {
            throw CameraError(
                .controlNotSettable,
                "\(control.name) of \(device.name) cannot be set now: switch off what sets it by itself.")
        }
        guard control.takes(value), node.setControl(identifier.rawValue, to: value) else {
            throw CameraError(
                .controlNotSettable,
                "\(control.name) of \(device.name) does not take \(value): choose \(control.wordsForValues).")
        }
    }

    /// Hears of interruptions and of cameras coming and going. Kept weakly.
    public var delegate: (any V4L2CapturerDelegate)? {
        get { listener.delegate }
        set {
            listener.set { [weak newValue] in newValue }
            // The thread also watches for cameras that come and go.
            if newValue != nil { startThread() }
        }
    }

    /// What the camera has delivered.
    public var statistics: CameraStatistics { mailbox.statistics.withLock { $0 } }

    /// Uses the camera that looks a way, the only one there is counting as the front one; returns once it streams.
    public func useCamera(at position: CameraPosition) async throws(CameraError) {
        try await use(.position(position))
    }

    /// Uses a camera; returns once it streams. Another one that was in use is given up then, and the sink stays; where the
    /// new one cannot be used, the old one goes on.
    ///
    /// - Parameters:
    ///   - device: one of ``availableCameras()``.
    ///   - format: one of the device's formats. With nil the one closest to the configuration is chosen, where half the
    ///     pixels weigh as much as 30 % less of the rate, and formats that need less conversion win among equals.
    public func useCamera(_ device: CameraDevice, format: CameraFormat? = nil) async throws(CameraError) {
        try await use(.device(device, format))
    }

    private func use(_ target: CameraMailbox.Target) async throws(CameraError) {
        startThread()
        let result = await withCheckedContinuation { continuation in
            mailbox.post(.use(target) { continuation.resume(returning: $0) })
        }
        try result.get()
    }

    /// Gives the camera up: when this returns the device is closed and no picture is delivered any more.
    ///
    /// Called from inside the sink's own `handleVideoFrame` it returns at once, and the device is closed after that.
    public func stop() {
        guard isStarted.withLock({ $0 }) else { return }
        let done = DispatchSemaphore(value: 0)
        mailbox.post(.release { done.signal() })
        if !mailbox.slot.isDeliveringOnThisThread { done.wait() }
    }

    /// Chooses where pictures go; see ``VideoCapturer``. A camera without a sink is closed after two seconds, and opened
    /// again when there is one.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        mailbox.slot.set(sink)
        mailbox.wake()
    }

    private func startThread() {
        let isFirst = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        guard isFirst else { return }
        let mailbox = mailbox
        startDetachedThread { CameraLoop(mailbox).run() }
    }

    private func tell(_ news: CameraMailbox.News) {
        newsQueue.async { [weak self] in
            guard let self, let delegate = listener.delegate else { return }
            switch news {
            case .interrupted(let error): delegate.capturer(self, wasInterruptedBy: error)
            case .resumed: delegate.capturerDidResume(self)
            case .camerasChanged(let cameras): delegate.capturer(self, didChangeAvailableCameras: cameras)
            }
        }
    }
}
