internal import Dispatch
internal import OffhookBasics

/// A microphone or speaker of the sound server, of which one may be changed into another.
package protocol SoundServerDevice: AnyObject, Sendable {
    var device: String? { get set }
    var delegate: (any SoundDeviceDelegate)? { get set }
}

extension PulseMicrophone: SoundServerDevice {}
extension PulseSpeaker: SoundServerDevice {}

/// What microphones and speakers of the sound server have in common: an end that the connection serves, as long as the
/// device lives, and a delegate.
final class PulseDevice<End: PulseEnd>: Sendable {
    let end: End
    private let server: SoundServer
    private let listener = SoundListener()

    init(_ end: End, server: SoundServer, callbackQueue: DispatchQueue) {
        self.end = end
        self.server = server
        let newsQueue = DispatchQueue.news(on: callbackQueue)
        end.report.set { [listener] event in listener.tell(event, on: newsQueue) }
        server.mailbox.attach(end)
    }

    deinit {
        server.mailbox.detach(end)
    }

    /// Who the delegate is told that it is; held weakly.
    func setOwner(_ owner: @escaping @Sendable () -> SoundDevice?) {
        listener.owner.set(owner)
    }

    var device: String? {
        get { end.wish.device }
        set {
            end.change { $0.device = newValue }
            wishChanged()
        }
    }

    var delegate: (any SoundDeviceDelegate)? {
        get { listener.box.delegate }
        set { listener.box.set { [weak newValue] in newValue } }
    }

    /// Has the connection look at what the end wishes.
    func wishChanged() {
        server.mailbox.wishChanged()
    }

    /// The device of the sound server that is in use, where it is known.
    var deviceInUse: AudioDevice? {
        guard let id = end.statistics.device else { return nil }
        return server.knownDevices[end.kind].first { $0.id == id }
    }
}
