internal import Dispatch
internal import OffhookBasics

/// Hears of a microphone's or speaker's troubles. Called on its callback queue, one at a time.
public protocol SoundDeviceDelegate: AnyObject {
    /// No sound flows for now. Told once; it flows again by itself when it can.
    func soundDevice(_ device: SoundDevice, wasInterruptedBy error: SoundError)
    /// Sound flows by way of a device: for the first time, again, or another one than before.
    func soundDevice(_ device: SoundDevice, didOpen id: AudioDevice.ID)
    /// The wanted device is not there, so that the default one is used until it comes.
    func soundDevice(_ device: SoundDevice, didUseSubstituteFor error: SoundError)
}

extension SoundDeviceDelegate {
    /// Does nothing.
    public func soundDevice(_ device: SoundDevice, wasInterruptedBy error: SoundError) {}
    /// Does nothing.
    public func soundDevice(_ device: SoundDevice, didOpen id: AudioDevice.ID) {}
    /// Does nothing.
    public func soundDevice(_ device: SoundDevice, didUseSubstituteFor error: SoundError) {}
}

/// A microphone or speaker of the sound server.
public enum SoundDevice: Sendable {
    case microphone(PulseMicrophone)
    case speaker(PulseSpeaker)

    /// Which of the two it is.
    public var kind: AudioDevice.Kind {
        switch self {
        case .microphone: .microphone
        case .speaker: .speaker
        }
    }
}

/// Tells the delegate of a microphone or speaker.
final class SoundListener: Sendable {
    let box = DelegateBox<any SoundDeviceDelegate>()
    /// The device itself, held weakly.
    let owner = DelegateBox<SoundDevice>()

    func tell(_ event: PulseEvent, on queue: DispatchQueue) {
        queue.async {
            guard let device = self.owner.delegate, let delegate = self.box.delegate else { return }
            switch event {
            case .opened(let id): delegate.soundDevice(device, didOpen: id)
            case .interrupted(let error): delegate.soundDevice(device, wasInterruptedBy: error)
            case .substituted(let error): delegate.soundDevice(device, didUseSubstituteFor: error)
            }
        }
    }
}

/// Whom a stream's events are told to: each trouble once.
final class SoundReport: Sendable {
    private struct State {
        var handler: @Sendable (PulseEvent) -> Void = { _ in }
        var last: PulseEvent?
    }

    private let state = Lock(State())

    func set(_ handler: @escaping @Sendable (PulseEvent) -> Void) {
        state.withLock { $0.handler = handler }
    }

    func tell(_ event: PulseEvent) {
        let handler = state.withLock { state -> (@Sendable (PulseEvent) -> Void)? in
            guard event != state.last else { return nil }
            state.last = event
            return state.handler
        }
        handler?(event)
    }
}
