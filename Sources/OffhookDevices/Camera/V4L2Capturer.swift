public import Dispatch
internal import OffhookBasics
public import OffhookMedia

/// A camera of the machine, by Linux's video interface.
///
/// Pictures come on a capture thread of the capturer's own. All methods may be called on any thread.
///
/// ```swift
/// let camera = V4L2Capturer()
/// camera.setVideoSink(sink)
/// try await camera.useCamera(at: .front)
/// ```
public final class V4L2Capturer: VideoCapturer {
    private let slot = SinkSlot<any VideoSink>()

    /// What is wanted of the camera.
    public let configuration: CameraConfiguration

    /// Makes a capturer that uses no camera yet.
    ///
    /// - Parameters:
    ///   - configuration: what is wanted of the camera.
    ///   - callbackQueue: where the delegate is called.
    public init(configuration: CameraConfiguration = .init(), callbackQueue: DispatchQueue = .main) {
        self.configuration = configuration
    }

    /// The cameras that are plugged in now, front one first.
    public static func availableCameras() -> [CameraDevice] {
        availableCameras(configuration: .init())
    }

    /// The cameras that are plugged in now, with positions by a configuration.
    public static func availableCameras(configuration: CameraConfiguration) -> [CameraDevice] {
        []
    }

    /// Hears of interruptions and of cameras coming and going. Kept weakly.
    public var delegate: (any V4L2CapturerDelegate)? {
        get { nil }
        set {}
    }

    /// What the camera has delivered.
    public var statistics: CameraStatistics { CameraStatistics() }

    /// Uses the camera that looks a way, or the only one there is; returns once it streams.
    public func useCamera(at position: CameraPosition) async throws(CameraError) {
        throw CameraError(.notFound, "No camera was found: plug one in, or call without video.")
    }

    /// Uses a camera; returns once it streams. Another one that was in use is given up, and the sink stays.
    ///
    /// - Parameters:
    ///   - device: one of ``availableCameras()``.
    ///   - format: one of the device's formats; nil chooses the one closest to the configuration.
    public func useCamera(_ device: CameraDevice, format: CameraFormat? = nil) async throws(CameraError) {
        throw CameraError(.notFound, "No camera was found: plug one in, or call without video.")
    }

    /// Gives the camera up; no picture is delivered after this returns, and the device is closed.
    public func stop() {}

    /// Chooses where pictures go; see ``VideoCapturer``. A camera without a sink is closed after two seconds, and opened
    /// again when there is one.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        slot.set(sink)
    }
}
