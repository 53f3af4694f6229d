public import Dispatch
internal import OffhookBasics

/// The machine's sound server: PulseAudio, or PipeWire by its PulseAudio part.
///
/// It is connected to, by libpulse and on a thread of its own, while somebody uses it: while a microphone or speaker is
/// open, or a delegate is set. A server that is not there, or goes, is waited for. All methods may be called on any
/// thread.
public final class SoundServer: Sendable {
    /// The user's own server, as libpulse finds it: by `PULSE_SERVER`, its configuration, or the usual socket.
    public static let standard = SoundServer()

    let mailbox: PulseMailbox
    private let newsQueue: DispatchQueue
    private let listener = DelegateBox<any SoundServerDelegate>()
    private let observer = Lock<Int?>(nil)

    /// Names a server.
    ///
    /// - Parameters:
    ///   - address: as in `unix:/run/user/1000/pulse/native` or `tcp:192.0.2.1`; nil for the user's own.
    ///   - callbackQueue: where the delegate is called, one at a time even if the queue is concurrent.
    public init(address: String? = nil, callbackQueue: DispatchQueue = .main) {
        mailbox = PulseMailbox(address: address)
        newsQueue = .news(on: callbackQueue)
    }

    deinit {
        if let number = observer.withLock({ $0 }) { mailbox.removeObserver(number) }
    }

    /// The devices there are now. Connects where nobody is connected yet.
    ///
    /// - Throws: `notInstalled`, `noServer`, `serverLost`.
    public func devices() async throws(SoundError) -> AudioDevices {
        let result = await withCheckedContinuation { continuation in
            mailbox.ask { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// The devices that were there when the server was last heard; none where nobody uses it.
    public var knownDevices: AudioDevices { mailbox.devices }

    /// Why there is no server; nil where there is one, or nobody has asked for it.
    public var trouble: SoundError? { mailbox.trouble }

    /// Mutes a device for all programs, or takes that back. Apart from ``AudioDevice/isMuted`` a call has its own mute.
    ///
    /// Returns at once; the change is told by ``SoundServerDelegate/soundServer(_:didChangeDevices:)``.
    public func setMuted(_ isMuted: Bool, of device: AudioDevice) {
        mailbox.order(.init(device: device.id, kind: device.kind, isMuted: isMuted))
    }

    /// Hears of devices that come and go, and of the server's own coming and going. Kept weakly.
    public var delegate: (any SoundServerDelegate)? {
        get { listener.delegate }
        set {
            listener.set { [weak newValue] in newValue }
            let isWanted = newValue != nil
            let stale = observer.withLock { observer -> Int? in
                guard isWanted != (observer != nil) else { return nil }
                defer { observer = isWanted ? mailbox.observe { [weak self] news in self?.tell(news) } : nil }
                return observer
            }
            if let stale { mailbox.removeObserver(stale) }
        }
    }

    /// Calls `observer`, on the server's thread, whenever a device came or went.
    package func observeDevices(_ observer: @escaping @Sendable (AudioDevices) -> Void) -> Int {
        mailbox.observe { news in
            if case .devicesChanged(let devices) = news { observer(devices) }
        }
    }

    package func removeObserver(_ number: Int) {
        mailbox.removeObserver(number)
    }

    private func tell(_ news: SoundNews) {
        newsQueue.async { [weak self] in
            guard let self, let delegate = listener.delegate else { return }
            switch news {
            case .devicesChanged(let devices): delegate.soundServer(self, didChangeDevices: devices)
            case .lost(let error): delegate.soundServer(self, wasLostBy: error)
            case .connected: delegate.soundServerDidReturn(self)
            }
        }
    }
}

/// Hears of devices and of the sound server. Called on the server's callback queue, one at a time.
public protocol SoundServerDelegate: AnyObject {
    /// A device came or went, was muted, or another one is the default now.
    func soundServer(_ server: SoundServer, didChangeDevices devices: AudioDevices)
    /// There is no server, or no more. Told once; it is tried again each second.
    func soundServer(_ server: SoundServer, wasLostBy error: SoundError)
    /// The server is there after it was not.
    func soundServerDidReturn(_ server: SoundServer)
}

extension SoundServerDelegate {
    /// Does nothing.
    public func soundServer(_ server: SoundServer, didChangeDevices devices: AudioDevices) {}
    /// Does nothing.
    public func soundServer(_ server: SoundServer, wasLostBy error: SoundError) {}
    /// Does nothing.
    public func soundServerDidReturn(_ server: SoundServer) {}
}
