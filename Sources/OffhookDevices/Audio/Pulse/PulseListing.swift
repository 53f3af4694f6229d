internal import CPulse

/// One look at all devices, used on the connection's thread alone.
final class PulseListing {
    private let pulse: cpulse_functions
    private let done: (AudioDevices) -> Void
    private var defaultSpeaker: String?
    private var defaultMicrophone: String?
    private var found: [AudioDevice] = []
    /// Answers that are to come. At 0 all is known.
    private var missing = 3

    /// Asks the server; `done` is called later, unless the connection breaks.
    init(_ pulse: cpulse_functions, _ context: OpaquePointer, done: @escaping (AudioDevices) -> Void) {
        (self.pulse, self.done) = (pulse, done)
        // The names of the defaults come first, since answers come in the order of questions.
        let myself = Unmanaged.passUnretained(self).toOpaque()
        for operation in [
            pulse.pa_context_get_server_info(context, serverTold, myself),
            pulse.pa_context_get_sink_info_list(context, speakerTold, myself),
            pulse.pa_context_get_source_info_list(context, microphoneTold, myself),
        ] {
            if let operation { pulse.pa_operation_unref(operation) }
        }
    }

    fileprivate func take(_ server: pa_server_info) {
        defaultSpeaker = server.default_sink_name.map { String(cString: $0) }
        defaultMicrophone = server.default_source_name.map { String(cString: $0) }
        countDown()
    }

    fileprivate func take(_ sink: pa_sink_info) {
        let id = String(cString: sink.name)
        found.append(
            AudioDevice(
                id: id, name: sink.description.map { String(cString: $0) } ?? id, kind: .speaker,
                isDefault: id == defaultSpeaker, isMuted: sink.mute != 0, volume: volume(sink.volume),
                bus: property("device.bus", sink.proplist), formFactor: property("device.form_factor", sink.proplist)))
    }

    fileprivate func take(_ source: pa_source_info) {
        let id = String(cString: source.name)
        found.append(
            AudioDevice(
                id: id, name: source.description.map { String(cString: $0) } ?? id, kind: .microphone,
                isDefault: id == defaultMicrophone, isMonitor: source.monitor_of_sink != .max,
                isMuted: source.mute != 0, volume: volume(source.volume),
                bus: property("device.bus", source.proplist),
                formFactor: property("device.form_factor", source.proplist)))
    }

    private func volume(_ volume: pa_cvolume) -> Double {
        // The values stand for 0 to 100 % of full volume at 65536.
        Double(volume.values.0) / 65536
    }

    private func property(_ name: String, _ list: OpaquePointer?) -> String? {
        guard let list, let value = pulse.pa_proplist_gets(list, name) else { return nil }
        return String(cString: value)
    }

    fileprivate func countDown() {
        missing -= 1
        guard missing == 0 else { return }
        let devices = AudioDevices(
            microphones: found.filter { $0.kind == .microphone }, speakers: found.filter { $0.kind == .speaker })
        done(devices)
    }
}

// libpulse calls these on the connection's thread; the connection keeps the listing until it is done or the context is
// gone, which ends the calls.

private func serverTold(
    _ context: OpaquePointer?, _ info: UnsafePointer<pa_server_info>?, _ listing: UnsafeMutableRawPointer?
) {
    guard let listing else { return }
    let this = Unmanaged<PulseListing>.fromOpaque(listing).takeUnretainedValue()
    if let info { this.take(info.pointee) } else { this.countDown() }
}

private func speakerTold(
    _ context: OpaquePointer?, _ info: UnsafePointer<pa_sink_info>?, _ end: Int32, _ listing: UnsafeMutableRawPointer?
) {
    guard let listing else { return }
    let this = Unmanaged<PulseListing>.fromOpaque(listing).takeUnretainedValue()
    if end != 0 { this.countDown() } else if let info { this.take(info.pointee) }
}

private func microphoneTold(
    _ context: OpaquePointer?, _ info: UnsafePointer<pa_source_info>?, _ end: Int32,
    _ listing: UnsafeMutableRawPointer?
) {
    guard let listing else { return }
    let this = Unmanaged<PulseListing>.fromOpaque(listing).takeUnretainedValue()
    if end != 0 { this.countDown() } else if let info { this.take(info.pointee) }
}
