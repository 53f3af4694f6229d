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

/// Holds the delegate of a microphone or speaker, which need not be sendable.
final class SoundListener: @unchecked Sendable {
    // Read on the callback queue and written anywhere, with the lock held; the delegate is used on the queue alone.
    private let lock = Lock(())
    private weak var stored: (any SoundDeviceDelegate)?
    /// The device itself, held weakly.
    let owner = SoundOwner()

    var delegate: (any SoundDeviceDelegate)? {
        get { lock.withLock { _ in stored } }
        set { lock.withLock { _ in stored = newValue } }
    }

    func tell(_ event: PulseEvent, on queue: DispatchQueue) {
        queue.async {
            guard let device = self.owner.device, let delegate = self.delegate else { return }
            switch event {
            case .opened(let id): delegate.soundDevice(device, didOpen: id)
            case .interrupted(let error): delegate.soundDevice(device, wasInterruptedBy: error)
            case .substituted(let error): delegate.soundDevice(device, didUseSubstituteFor: error)
            }
        }
    }
}

/// A weak reference to a microphone or speaker.
final class SoundOwner: Sendable {
    private let find = Lock<@Sendable () -> SoundDevice?>({ nil })

    var device: SoundDevice? { find.withLock { $0 }() }

    func set(_ find: @escaping @Sendable () -> SoundDevice?) {
        self.find.withLock { $0 = find }
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
