public import OffhookMedia

/// A speaker that can tell when its sound is heard, as the cancelling of echoes needs it.
public protocol AudioPlayer: AudioSink {
    /// Chooses who gets a copy of all that is played, with the time at which it is heard in `captureTime`. With nil it is
    /// detached: nothing is told after this returns.
    func setPlayoutObserver(_ observer: (any AudioSink)?)
}
