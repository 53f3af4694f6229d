public import OffhookMedia

/// Reads the number and the clock out of a picture of ``TestPatternCapturer``, however it was coded or scaled since.
public struct TestPatternReader: Sendable {
    /// Makes a reader.
    public init() {}

    /// What the picture says; nil where it is none of ours or is damaged beyond reading.
    public func read(_ frame: VideoFrame) -> TestPattern? {
        nil
    }
}
