public import OffhookDevices

extension AudioInterface {
    /// Hears of devices that come and go and of sound that stops and comes back, on the client's callback queue. Held
    /// weakly.
    ///
    /// While there is a delegate, the sound server is connected to.
    public var delegate: (any AudioInterfaceDelegate)? {
        get { devices.box.delegate }
        set { devices.setDelegate(newValue) }
    }

    /// The microphones that the sound server last told of; none before it was asked.
    public var microphones: [AudioDevice] { SoundServer.standard.knownDevices.microphones }

    /// The speakers that the sound server last told of; none before it was asked.
    public var speakers: [AudioDevice] { SoundServer.standard.knownDevices.speakers }

    /// Asks the sound server which devices there are now.
    ///
    /// - Throws: `notInstalled`, `noServer`, `serverLost`.
    public func findDevices() async throws(SoundError) -> AudioDevices {
        try await SoundServer.standard.devices()
    }

    /// Has all calls that have no microphone of their own use one of the sound server; also in the middle of a call.
    ///
    /// - Parameters:
    ///   - device: one of ``microphones``; nil follows the system's default.
    ///   - latency: see ``PulseMicrophone``.
    ///   - server: the sound server.
    /// - Returns: the microphone, which tells its ``PulseMicrophone/statistics``.
    @discardableResult
    public func useMicrophone(
        _ device: AudioDevice? = nil, latency: Duration = .milliseconds(20), of server: SoundServer = .standard
    ) -> PulseMicrophone {
        useMicrophone(named: device?.id, latency: latency, of: server)
    }

    /// The same with a device's ``AudioDevice/id`` or a part of its name, which need not be there yet.
    @discardableResult
    public func useMicrophone(
        named name: String?, latency: Duration = .milliseconds(20), of server: SoundServer = .standard
    ) -> PulseMicrophone {
        let microphone = devices.microphone(name, latency: latency, server: server)
        setMicrophone(microphone)
        return microphone
    }

    /// Has all calls that have no speaker of their own be heard on one of the sound server; also in the middle of a call.
    ///
    /// - Parameters:
    ///   - device: one of ``speakers``; nil follows the system's default.
    ///   - latency: see ``PulseSpeaker``.
    ///   - server: the sound server.
    /// - Returns: the speaker, which tells its ``PulseSpeaker/statistics``.
    @discardableResult
    public func useSpeaker(
        _ device: AudioDevice? = nil, latency: Duration = .milliseconds(60), of server: SoundServer = .standard
    ) -> PulseSpeaker {
        useSpeaker(named: device?.id, latency: latency, of: server)
    }

    /// The same with a device's ``AudioDevice/id`` or a part of its name, which need not be there yet.
    @discardableResult
    public func useSpeaker(
        named name: String?, latency: Duration = .milliseconds(60), of server: SoundServer = .standard
    ) -> PulseSpeaker {
        let speaker = devices.speaker(name, latency: latency, server: server)
        setSpeaker(speaker)
        return speaker
    }

    /// The microphone of all calls that have none of their own.
    public var microphone: (any AudioCapturer)? { routes.microphone }

    /// The speaker of all calls that have none of their own.
    public var speaker: (any AudioSink)? { routes.speaker }

    /// Mutes a device for all programs, or takes that back. Apart from ``isMicrophoneMuted`` and `Call.muteAudio(_:)`, which
    /// mute calls alone.
    public func setMuted(_ isMuted: Bool, of device: AudioDevice) {
        SoundServer.standard.setMuted(isMuted, of: device)
    }

    /// The tones that are played on ``speaker`` by themselves: ringing, ringback, busy and those of sent keys. None
    /// unless set.
    public var callTones: TonePlan? {
        get { tones.plan }
        set { tones.plan = newValue }
    }
}

/// Hears of an account's sound devices: those of ``AudioInterface/useMicrophone(_:latency:of:)`` and
/// ``AudioInterface/useSpeaker(_:latency:of:)``. Called on the client's callback queue.
public protocol AudioInterfaceDelegate: AnyObject {
    /// A device came or went, was muted, or another one is the default now.
    func audioInterface(_ audioInterface: AudioInterface, didChangeDevices devices: AudioDevices)
    /// Sound flows by way of a device: for the first time, again, or another one than before.
    func audioInterface(_ audioInterface: AudioInterface, didOpen device: AudioDevice.ID, as kind: AudioDevice.Kind)
    /// No sound flows for now. Told once; calls go on, and sound comes back by itself when it can.
    func audioInterface(
        _ audioInterface: AudioInterface, wasInterruptedBy error: SoundError, of kind: AudioDevice.Kind)
    /// The chosen device is not there, so that the default one is used until it comes.
    func audioInterface(
        _ audioInterface: AudioInterface, didUseSubstituteFor error: SoundError, of kind: AudioDevice.Kind)
}

extension AudioInterfaceDelegate {
    /// Does nothing.
    public func audioInterface(_ audioInterface: AudioInterface, didChangeDevices devices: AudioDevices) {}
    /// Does nothing.
    public func audioInterface(
        _ audioInterface: AudioInterface, didOpen device: AudioDevice.ID, as kind: AudioDevice.Kind
    ) {}
    /// Does nothing.
    public func audioInterface(
        _ audioInterface: AudioInterface, wasInterruptedBy error: SoundError, of kind: AudioDevice.Kind
    ) {}
    /// Does nothing.
    public func audioInterface(
        _ audioInterface: AudioInterface, didUseSubstituteFor error: SoundError, of kind: AudioDevice.Kind
    ) {}
}
