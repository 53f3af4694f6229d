internal import Dispatch
internal import OffhookBasics
internal import OffhookDevices

/// The devices of the sound server that an account uses, and whom to tell of them.
final class AudioDeviceChoice: Sendable {
    private struct State {
        var microphone: Chosen<PulseMicrophone>?
        var speaker: Chosen<PulseSpeaker>?
        var observer: Int?
    }

    private struct Chosen<Device: Sendable> {
        let device: Device
        let key: Key
    }

    /// What a device cannot change while it is in use.
    private struct Key: Hashable {
        var server: ObjectIdentifier
        var latency: Duration
    }

    let box = DelegateBox<any AudioInterfaceDelegate>()
    let interface = DelegateBox<AudioInterface>()
    private let queue: DelegateQueue
    private let state = Lock(State())
    private let forwarder = Forwarder()

    init(queue: DelegateQueue) {
        self.queue = queue
        forwarder.choice.set { [weak self] in self }
    }

    deinit {
        if let observer = state.withLock({ $0.observer }) { SoundServer.standard.removeObserver(observer) }
    }

    func microphone(_ name: String?, latency: Duration, server: SoundServer) -> PulseMicrophone {
        use(name, Key(server: ObjectIdentifier(server), latency: latency), in: \.microphone) {
            PulseMicrophone(device: name, latency: latency, server: server, callbackQueue: Forwarder.queue)
        }
    }

    func speaker(_ name: String?, latency: Duration, server: SoundServer) -> PulseSpeaker {
        use(name, Key(server: ObjectIdentifier(server), latency: latency), in: \.speaker) {
            PulseSpeaker(device: name, latency: latency, server: server, callbackQueue: Forwarder.queue)
        }
    }

    /// The device there is, where it will do, told which one to be; else another.
    private func use<Device: SoundServerDevice>(
        _ name: String?, _ key: Key, in place: WritableKeyPath<State, Chosen<Device>?>, make: () -> Device
    ) -> Device {
        let (device, isNew) = state.withLock { state in
            if let present = state[keyPath: place], present.key == key { return (present.device, false) }
            let new = make()
            state[keyPath: place] = Chosen(device: new, key: key)
            return (new, true)
        }
        if isNew { device.delegate = forwarder } else { device.device = name }
        return device
    }

    /// Watches the server's devices while there is somebody to tell.
    func setDelegate(_ delegate: (any AudioInterfaceDelegate)?) {
        box.set { [weak delegate] in delegate }
        let isWanted = delegate != nil
        let stale = state.withLock { state -> Int? in
            guard isWanted != (state.observer != nil) else { return nil }
            guard isWanted else {
                defer { state.observer = nil }
                return state.observer
            }
            state.observer = SoundServer.standard.observeDevices { [weak self] devices in
                self?.tell { $0.audioInterface($1, didChangeDevices: devices) }
            }
            return nil
        }
        if let stale { SoundServer.standard.removeObserver(stale) }
    }

    private func tell(_ news: @escaping @Sendable (any AudioInterfaceDelegate, AudioInterface) -> Void) {
        queue.enqueue { [box, interface] in
            guard let delegate = box.delegate, let interface = interface.delegate else { return }
            news(delegate, interface)
        }
    }

    /// Takes the devices' news to the account's delegate.
    private final class Forwarder: SoundDeviceDelegate, Sendable {
        static let queue = DispatchQueue(label: "offhook.sound-news")
        let choice = DelegateBox<AudioDeviceChoice>()

        func soundDevice(_ device: SoundDevice, wasInterruptedBy error: SoundError) {
            let kind = device.kind
            choice.delegate?.tell { $0.audioInterface($1, wasInterruptedBy: error, of: kind) }
        }

        func soundDevice(_ device: SoundDevice, didOpen id: AudioDevice.ID) {
            let kind = device.kind
            choice.delegate?.tell { $0.audioInterface($1, didOpen: id, as: kind) }
        }

        func soundDevice(_ device: SoundDevice, didUseSubstituteFor error: SoundError) {
            let kind = device.kind
            choice.delegate?.tell { $0.audioInterface($1, didUseSubstituteFor: error, of: kind) }
        }
    }
}
