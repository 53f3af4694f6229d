internal import CPulse
internal import Glibc
internal import OffhookBasics

/// One stream of libpulse, used on the connection's thread alone.
final class PulseStream {
    enum State {
        case opening
        case ready
        case failed
    }

    static let sampleRate = 48000
    /// How often the server is asked for the time of what is heard.
    private static let timingInterval = Duration.milliseconds(50)

    let end: any PulseEnd
    /// What the stream was opened for.
    let wish: PulseWish
    private let pulse: cpulse_functions
    private let stream: OpaquePointer
    /// Told when the stream is ready, moved or failed.
    private let changed: () -> Void
    private var scratch: [Int16] = []
    private var lastAsked = Instant.zero

    /// Opens a stream on a device, or on the server's default; nil where the server takes none.
    init?(
        _ end: any PulseEnd, wish: PulseWish, device: String?, pulse: cpulse_functions, context: OpaquePointer,
        changed: @escaping () -> Void
    ) {
        var format = pa_sample_spec(format: PA_SAMPLE_S16LE, rate: UInt32(Self.sampleRate), channels: 1)
        let properties = pulse.pa_proplist_new()
        defer { pulse.pa_proplist_free(properties) }
        // So that the server gives it the volume and the routing of calls.
        _ = pulse.pa_proplist_sets(properties, "media.role", "phone")
        let name = end.kind == .microphone ? "Call (microphone)" : "Call (speaker)"
        guard let stream = pulse.pa_stream_new_with_proplist(context, name, &format, nil, properties) else {
            return nil
        }
        (self.end, self.wish, self.pulse, self.stream, self.changed) = (end, wish, pulse, stream, changed)
        setCallbacks(Unmanaged.passUnretained(self).toOpaque())
        guard connect(to: device) >= 0 else {
            setCallbacks(nil)
            pulse.pa_stream_unref(stream)
            return nil
        }
    }

    private func setCallbacks(_ context: UnsafeMutableRawPointer?) {
        pulse.pa_stream_set_state_callback(stream, context == nil ? nil : streamChanged, context)
        pulse.pa_stream_set_moved_callback(stream, context == nil ? nil : streamChanged, context)
        switch end.kind {
        case .microphone: pulse.pa_stream_set_read_callback(stream, context == nil ? nil : streamReadable, context)
        case .speaker: pulse.pa_stream_set_write_callback(stream, context == nil ? nil : streamWritable, context)
        }
    }

    private func connect(to device: String?) -> Int32 {
        let bytes = UInt32(clamping: wish.latency.inNanoseconds / 1000 * Int64(Self.sampleRate) / 1_000_000 * 2)
        let flags = PA_STREAM_ADJUST_LATENCY
        switch end.kind {
        case .microphone:
            var attributes = pa_buffer_attr(
                maxlength: .max, tlength: .max, prebuf: .max, minreq: .max, fragsize: bytes)
            return pulse.pa_stream_connect_record(stream, device, &attributes, flags)
        case .speaker:
            var attributes = pa_buffer_attr(
                maxlength: .max, tlength: bytes, prebuf: .max, minreq: .max, fragsize: .max)
            return pulse.pa_stream_connect_playback(stream, device, &attributes, flags, nil, nil)
        }
    }

    /// Ends the stream. It is not to be used afterwards.
    func close() {
        setCallbacks(nil)
        _ = pulse.pa_stream_disconnect(stream)
        pulse.pa_stream_unref(stream)
    }

    var state: State {
        switch pulse.pa_stream_get_state(stream) {
        case PA_STREAM_READY: .ready
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED: .failed
        default: .opening
        }
    }

    /// The id of the device that the stream is on; nil where it is on none yet.
    var device: String? {
        guard state == .ready, let name = pulse.pa_stream_get_device_name(stream) else { return nil }
        return String(cString: name)
    }

    /// When the sample that is written next will be heard; nil while the speaker does not play yet.
    ///
    /// The server says where it was in the stream at a time. Its own guess of what has come since, which libpulse offers
    /// as the latency, wanders by ten milliseconds in the first seconds: too much to find an echo by.
    private func hearingTime(at now: Instant) -> Instant? {
        askForTiming(at: now)
        guard let timing = pulse.pa_stream_get_timing_info(stream)?.pointee, timing.playing != 0,
            timing.read_index_corrupt == 0, timing.write_index_corrupt == 0,
            let age = Self.age(of: timing.timestamp)
        else { return nil }
        let waiting = (timing.write_index - timing.read_index) / 2
        return now - age + .microseconds(Int64(clamping: timing.sink_usec))
            + .nanoseconds(waiting * 1_000_000_000 / Int64(Self.sampleRate))
    }

    private func askForTiming(at now: Instant) {
        guard now - lastAsked >= Self.timingInterval else { return }
        lastAsked = now
        if let operation = pulse.pa_stream_update_timing_info(stream, nil, nil) { pulse.pa_operation_unref(operation) }
    }

    /// How long ago a time of the day was; nil where the clock was set meanwhile.
    private static func age(of time: timeval) -> Duration? {
        var today = timeval()
        gettimeofday(&today, nil)
        let age = Duration.seconds(today.tv_sec - time.tv_sec) + .microseconds(Int64(today.tv_usec - time.tv_usec))
        return age >= .zero && age < .seconds(5) ? age : nil
    }

    fileprivate func tellChange() { changed() }

    fileprivate func read() {
        while true {
            let waiting = pulse.pa_stream_readable_size(stream)
            var data: UnsafeRawPointer?
            var count = 0
            guard waiting > 0, waiting != .max, pulse.pa_stream_peek(stream, &data, &count) >= 0, count > 0 else {
                return
            }
            // The server passes on at once what it has from the device: the newest sample was recorded just now. What it
            // tells of the device's latency is wrong by up to a second where the device was just opened.
            let now = MonotonicClock.now
            let time = now - .nanoseconds(Int64(waiting / 2) * 1_000_000_000 / Int64(Self.sampleRate))
            let samples = count / 2
            if let data {
                end.take(
                    UnsafeBufferPointer(start: data.assumingMemoryBound(to: Int16.self), count: samples),
                    recordedAt: time, now: now)
            } else {
                // A hole in the recording.
                let silence = [Int16](repeating: 0, count: samples)
                silence.withUnsafeBufferPointer { end.take($0, recordedAt: time, now: now) }
            }
            _ = pulse.pa_stream_drop(stream)
        }
    }

    fileprivate func write(_ bytes: Int) {
        let samples = bytes / 2
        guard samples > 0 else { return }
        if scratch.count < samples { scratch = [Int16](repeating: 0, count: samples) }
        let now = MonotonicClock.now
        let time = hearingTime(at: now)
        scratch.withUnsafeMutableBufferPointer { buffer in
            end.fill(UnsafeMutableBufferPointer(rebasing: buffer[..<samples]), heardAt: time, now: now)
            _ = pulse.pa_stream_write(stream, buffer.baseAddress, samples * 2, nil, 0, PA_SEEK_RELATIVE)
        }
    }
}

// libpulse calls these on the connection's thread, with a stream that has not been closed.

private func streamChanged(_ stream: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<PulseStream>.fromOpaque(context).takeUnretainedValue().tellChange()
}

private func streamReadable(_ stream: OpaquePointer?, _ bytes: Int, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<PulseStream>.fromOpaque(context).takeUnretainedValue().read()
}

private func streamWritable(_ stream: OpaquePointer?, _ bytes: Int, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<PulseStream>.fromOpaque(context).takeUnretainedValue().write(bytes)
}
