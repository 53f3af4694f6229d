public import OffhookMedia

/// What is wanted of a camera. Every setting has a working default.
public struct CameraConfiguration: Sendable {
    /// The picture size to come close to.
    public var size = VideoSize(width: 1280, height: 720)
    /// The pictures a second to come close to.
    public var frameRate = 30.0
    /// Positions of cameras whose driver does not tell, by ``CameraDevice/id`` or by ``CameraDevice/name``.
    public var positions: [String: CameraPosition] = [:]
    /// Whether exposure may lower the picture rate in the dark (`V4L2_CID_EXPOSURE_AUTO_PRIORITY`), where the camera can
    /// be told; nil leaves it as it is.
    public var slowsDownInTheDark: Bool?

    /// Makes the default configuration.
    public init() {}

    /// Makes a configuration for a size and rate.
    public init(size: VideoSize, frameRate: Double) {
        self.size = size
        self.frameRate = frameRate
    }
}

/// What a camera has delivered since it was last chosen.
public struct CameraStatistics: Hashable, Sendable {
    /// The camera in use, or chosen and waited for.
    public var device: CameraDevice?
    /// The format in use.
    public var format: CameraFormat?
    /// Pictures a second as measured over the last seconds by the camera's own clock; less than was asked for where the
    /// camera takes longer exposures in the dark.
    public var measuredFrameRate = 0.0
    /// Pictures handed to the sink.
    public var frames = 0
    /// Pictures that the driver counted and did not deliver.
    public var framesLost = 0
    /// Pictures thrown away since they were damaged or incomplete.
    public var framesDamaged = 0
    /// How often the camera was away or silent.
    public var interruptions = 0

    /// Nothing yet.
    public init() {}
}
