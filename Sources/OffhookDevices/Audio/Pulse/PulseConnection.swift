internal import CPulse
internal import OffhookBasics

/// The connection to a sound server: all of libpulse runs on its one thread, which ends when nobody needs it.
final class PulseConnection {
    private enum Phase {
        case connecting
        case ready
        /// The server is not there and is tried again then.
        case waiting(until: Instant)
    }

    private static let retryInterval = Duration.seconds(1)
    private static let idleTime = Duration.seconds(2)

    let pulse: cpulse_functions
    private let mailbox: PulseMailbox
    private let mainloop: OpaquePointer
    private var context: OpaquePointer?
    private var phase = Phase.connecting
    private var hasConnected = false
    private var idleSince: Instant?
    /// When the look at the devices that is under way began; nil where there is none.
    private var listing: PulseListing?
    private var mustListAgain = false
    private var isListed = false
    private var seats: [ObjectIdentifier: PulseSeat] = [:]

    /// Serves a mailbox until nobody needs it.
    static func run(_ mailbox: PulseMailbox) {
        do throws(SoundError) {
            let pulse = try PulseLibrary.load()
            guard let mainloop = pulse.pa_mainloop_new() else {
                throw SoundError(.failed, "The system has no room for a connection to the sound server.")
            }
            let connection = PulseConnection(mailbox, pulse, mainloop)
            connection.run()
        } catch {
            mailbox.set(trouble: error)
            mailbox.answer(.failure(error))
            for end in mailbox.ends where end.wish.isOpen { end.handle(.interrupted(error)) }
            _ = mailbox.mayEnd(regardless: true)
        }
    }

    private init(_ mailbox: PulseMailbox, _ pulse: cpulse_functions, _ mainloop: OpaquePointer) {
        (self.mailbox, self.pulse, self.mainloop) = (mailbox, pulse, mainloop)
    }

    private func run() {
        // Taken back before the main loop is freed; libpulse allows this call on any thread.
        nonisolated(unsafe) let mainloop = mainloop
        let wakeUp = pulse.pa_mainloop_wakeup
        mailbox.setWake { wakeUp?(mainloop) }
        connect()
        while true {
            mailbox.beginLook()
            step(at: MonotonicClock.now)
            if isOver(at: MonotonicClock.now), mailbox.mayEnd() { break }
            let wait = nextDeadline.map { max($0 - MonotonicClock.now, .zero).inNanoseconds / 1000 + 1 }
            var isWorking = pulse.pa_mainloop_prepare(mainloop, Int32(clamping: wait ?? -1)) >= 0
            // Preparing forgets that somebody woke the loop: what was left since the look would lie until the next event.
            if mailbox.isUnread { pulse.pa_mainloop_wakeup(mainloop) }
            isWorking = isWorking && pulse.pa_mainloop_poll(mainloop) >= 0 && pulse.pa_mainloop_dispatch(mainloop) >= 0
            guard isWorking else {
                lose(SoundError(.failed, "The connection to the sound server does not work."))
                continue
            }
        }
        closeContext()
        pulse.pa_mainloop_free(mainloop)
    }

    private func isOver(at now: Instant) -> Bool {
        guard !mailbox.hasWork else {
            idleSince = nil
            return false
        }
        idleSince = idleSince ?? now
        return idleSince.map { now - $0 >= Self.idleTime } ?? false
    }

    private var nextDeadline: Instant? {
        var deadlines = seats.values.compactMap(\.nextDeadline)
        if case .waiting(let until) = phase { deadlines.append(until) }
        if let idleSince { deadlines.append(idleSince + Self.idleTime) }
        return deadlines.min()
    }

    // MARK: The server

    private func connect() {
        phase = .connecting
        let properties = pulse.pa_proplist_new()
        defer { pulse.pa_proplist_free(properties) }
        _ = pulse.pa_proplist_sets(properties, "application.name", programName)
        let context = pulse.pa_context_new_with_proplist(pulse.pa_mainloop_get_api(mainloop), nil, properties)
        self.context = context
        let myself = Unmanaged.passUnretained(self).toOpaque()
        pulse.pa_context_set_state_callback(context, contextChanged, myself)
        pulse.pa_context_set_subscribe_callback(context, devicesChanged, myself)
        // A program does not start the system's sound server.
        if pulse.pa_context_connect(context, mailbox.address, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 {
            loseContext()
        }
    }

    private var programName: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? "Offhook"
    }

    fileprivate func contextStateChanged() {
        switch pulse.pa_context_get_state(context) {
        case PA_CONTEXT_READY:
            phase = .ready
            hasConnected = true
            mailbox.set(trouble: nil)
            let mask =
                PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
                | PA_SUBSCRIPTION_MASK_SERVER.rawValue
            if let operation = pulse.pa_context_subscribe(context, pa_subscription_mask_t(rawValue: mask), nil, nil) {
                pulse.pa_operation_unref(operation)
            }
            listDevices()
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: isBroken = true
        default: break
        }
    }

    /// Set by a callback: what is broken is taken down outside of it.
    private var isBroken = false

    private func loseContext() {
        let code = pulse.pa_context_errno(context)
        let cause = pulse.pa_strerror(code).map { String(cString: $0) } ?? "error \(code)"
        lose(
            hasConnected
                ? SoundError(
                    .serverLost,
                    "The sound server has gone (\(cause.lowercased())): calls go on without sound until it is back.")
                : SoundError(
                    .noServer,
                    "There is no sound server (\(cause.lowercased())): start PulseAudio or PipeWire; until then calls go"
                        + " on without sound."))
    }

    private func lose(_ error: SoundError) {
        closeContext()
        mailbox.set(trouble: error)
        mailbox.set(devices: AudioDevices())
        mailbox.answer(.failure(error))
        for seat in seats.values { seat.lose(error) }
        phase = .waiting(until: MonotonicClock.now + Self.retryInterval)
    }

    private func closeContext() {
        for seat in seats.values { seat.close() }
        isBroken = false
        (listing, mustListAgain, isListed) = (nil, false, false)
        guard let context else { return }
        pulse.pa_context_set_state_callback(context, nil, nil)
        pulse.pa_context_set_subscribe_callback(context, nil, nil)
        pulse.pa_context_disconnect(context)
        pulse.pa_context_unref(context)
        self.context = nil
    }

    // MARK: Devices

    /// Looks at the devices, or once more when the look that is under way has ended.
    fileprivate func listDevices() {
        guard listing == nil, let context else {
            mustListAgain = true
            return
        }
        mustListAgain = false
        listing = PulseListing(pulse, context) { [unowned self] devices in
            listing = nil
            isListed = true
            mailbox.set(devices: devices)
            if mustListAgain { listDevices() }
        }
    }

    private func carryOut(_ command: PulseMailbox.MuteCommand) {
        let isMuted: Int32 = command.isMuted ? 1 : 0
        let operation =
            switch command.kind {
            case .microphone:
                pulse.pa_context_set_source_mute_by_name(context, command.device, isMuted, nil, nil)
            case .speaker: pulse.pa_context_set_sink_mute_by_name(context, command.device, isMuted, nil, nil)
            }
        if let operation { pulse.pa_operation_unref(operation) }
    }

    // MARK: Streams

    /// Does what is due: brings streams to what their ends wish for, and answers who asked.
    private func step(at now: Instant) {
        if isBroken { loseContext() }
        if case .waiting(let until) = phase, now >= until { connect() }
        let ends = mailbox.ends
        let present = Set(ends.map { ObjectIdentifier($0) })
        for (identifier, seat) in seats where !present.contains(identifier) {
            seat.close()
            seats[identifier] = nil
        }
        for end in ends where seats[ObjectIdentifier(end)] == nil {
            seats[ObjectIdentifier(end)] = PulseSeat(end, pulse)
        }
        switch phase {
        case .ready:
            guard isListed, let context else { return }
            for command in mailbox.takeCommands() { carryOut(command) }
            let devices = mailbox.devices
            if mailbox.hasQueries { mailbox.answer(.success(devices)) }
            for seat in seats.values { seat.step(devices: devices, context: context, at: now) }
        case .waiting:
            guard let trouble = mailbox.trouble else { return }
            if mailbox.hasQueries { mailbox.answer(.failure(trouble)) }
            for seat in seats.values { seat.lose(trouble) }
        case .connecting: break
        }
    }
}

// libpulse calls these on the connection's thread, while it has a context.

private func contextChanged(_ context: OpaquePointer?, _ connection: UnsafeMutableRawPointer?) {
    guard let connection else { return }
    Unmanaged<PulseConnection>.fromOpaque(connection).takeUnretainedValue().contextStateChanged()
}

private func devicesChanged(
    _ context: OpaquePointer?, _ event: pa_subscription_event_type_t, _ index: UInt32,
    _ connection: UnsafeMutableRawPointer?
) {
    guard let connection else { return }
    Unmanaged<PulseConnection>.fromOpaque(connection).takeUnretainedValue().listDevices()
}
