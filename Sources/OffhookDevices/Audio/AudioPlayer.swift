public import OffhookMedia

/// A speaker that can tell when its sound is heard, as the cancelling of echoes needs it.
public protocol AudioPlayer: AudioSink {
    /// Gives a copy of all that is played to `observer` too, with the time at which it is heard in `captureTime`.
    func addPlayoutObserver(_ observer: any AudioSink)
    /// Gives it no more. A frame that is on its way may still come.
    func removePlayoutObserver(_ observer: any AudioSink)
}
