/// Takes pictures.
///
/// Called on a media thread, one frame at a time; return within a frame time, since the source waits.
public protocol VideoSink: AnyObject, Sendable {
    /// Takes one picture. Keep the newest and one that you are at work on at most; whoever keeps more starves the source.
    func handleVideoFrame(_ frame: VideoFrame)
}

/// Makes pictures: a camera, a file, a pattern.
public protocol VideoCapturer: AnyObject, Sendable {
    /// Chooses where pictures go. With nil it detaches: no frame is delivered after this returns.
    ///
    /// May be called on any thread, but not from inside the sink's own `handleVideoFrame`.
    func setVideoSink(_ sink: (any VideoSink)?)
}

/// Where pictures of one stream come from.
public protocol VideoSource: AnyObject, Sendable {
    /// Chooses where pictures go. With nil it detaches: no frame is delivered after this returns.
    func setVideoSink(_ sink: (any VideoSink)?)
}
