internal import OffhookBasics
public import OffhookMedia

/// What is on an X11 screen, or a part of it, to be shared in a call.
///
/// ```swift
/// let screen = try ScreenCapturer()
/// screen.setVideoSink(video.localVideoSink(for: channel.id))
/// ```
///
/// Pictures come as I420 on a thread of the system's pool, at the chosen rate while something changes and for a second more,
/// and once a second while nothing does. They bear ``VideoContent/screen``, so that the encoder prefers sharp pictures
/// to many. A screen that is resized is followed; the pictures then have another size.
///
/// The server writes pictures into shared memory where it can (MIT-SHM), and sends them through the connection where it
/// cannot, as across a network. XCB is loaded (`libxcb.so.1`, and `libxcb-shm.so.0` and `libxcb-xfixes.so.0` where they are
/// there) by the first capturer. Wayland lets no program see the whole screen in this way: there the X server has the
/// windows of X programs alone.
public final class ScreenCapturer: VideoCapturer {
    /// What is wanted of the screen.
    public let configuration: ScreenConfiguration

    private let source: ScreenSource
    private let paced: PacedVideo

    /// Connects to the screen; pictures come once there is a sink.
    ///
    /// - Throws: `libraryMissing` where XCB is not installed, `noDisplay` where no X server answers, `notUnderstood` where
    ///   its pixels are of a kind that cannot be read.
    public init(configuration: ScreenConfiguration = .init()) throws(DeviceError) {
        var configuration = configuration
        configuration.frameRate =
            configuration.frameRate.isFinite ? min(max(configuration.frameRate, 0.1), 60) : 10
        self.configuration = configuration
        let source = try ScreenSource(configuration)
        self.source = source
        paced = PacedVideo(frameRate: configuration.frameRate, label: "offhook.screen") { source.next(due: $0) }
    }

    /// The whole screen's size, as of the last picture.
    public var screenSize: VideoSize { source.state.withLock { $0.size } }

    /// Whether the X server is still there. Once it has gone no more pictures come: make another capturer.
    public var isConnected: Bool { source.state.withLock { $0.isConnected } }

    /// Whether pictures come through shared memory, as of the last one.
    public var sharesMemory: Bool { source.state.withLock { $0.sharesMemory } }

    /// Chooses where pictures go; see ``VideoCapturer``.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        source.state.withLock { $0.isFirst = true }
        paced.setSink(sink)
    }
}
