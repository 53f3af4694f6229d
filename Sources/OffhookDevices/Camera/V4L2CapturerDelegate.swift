/// Hears of a camera's troubles and of cameras coming and going. Called on the capturer's callback queue, one at a time.
public protocol V4L2CapturerDelegate: AnyObject {
    /// No pictures come for now: the camera was unplugged, or is silent. Told once; capture resumes by itself when the
    /// camera is back, unless ``V4L2Capturer/stop()`` is called or another camera chosen.
    func capturer(_ capturer: V4L2Capturer, wasInterruptedBy error: CameraError)
    /// Pictures come again.
    func capturerDidResume(_ capturer: V4L2Capturer)
    /// A camera was plugged in or out.
    func capturer(_ capturer: V4L2Capturer, didChangeAvailableCameras cameras: [CameraDevice])
}

extension V4L2CapturerDelegate {
    /// Does nothing.
    public func capturer(_ capturer: V4L2Capturer, wasInterruptedBy error: CameraError) {}
    /// Does nothing.
    public func capturerDidResume(_ capturer: V4L2Capturer) {}
    /// Does nothing.
    public func capturer(_ capturer: V4L2Capturer, didChangeAvailableCameras cameras: [CameraDevice]) {}
}
