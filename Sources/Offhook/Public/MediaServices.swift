/// The sound and pictures of one account.
public final class MediaServices: Sendable {
    /// Microphones, speakers, tones and levels.
    public let audioInterface: AudioInterface
    /// Where received pictures come from and sent ones go.
    public let videoInterface = VideoInterface()

    init(delegateQueue: DelegateQueue) {
        audioInterface = AudioInterface(delegateQueue: delegateQueue)
    }
}
