import Offhook

/// `offhook call ADDRESS`
enum CallCommand {
    @MainActor static func run(_ address: String, _ options: Options) async throws -> ExitStatus {
        let interruption = Interruption.shared
        let target = try CallTarget.address(address, options: options)
        let station = try Station(options: options)
        if let status = try await RegistrationStep.start(station, mayMove: true) { return status }
        var callOptions = CallOptions()
        callOptions.delaysOffer = options.delaysOffer
        let call: Call
        do {
            call = try station.user.callService.createCall(to: target, options: callOptions)
        } catch {
            await station.stop()
            throw error
        }
        let session = try CallSession(call: call, station: station)
        station.add(session)
        session.place()

        let ending = Ending(station: station, interruption: interruption) {
            $0.outcomes.count >= 1 && $0.sessions.isEmpty
        }
        return await ending.wait()
    }
}

/// Starting an account, with the exit status where it cannot be registered.
enum RegistrationStep {
    @MainActor static func start(_ station: Station, mayMove: Bool) async throws -> ExitStatus? {
        let interruption = Interruption.shared
        // A server that is silent is not waited for to the end.
        interruption.onInterrupt { Task { await station.user.stop() } }
        defer { interruption.onInterrupt {} }
        do {
            try await station.start(mayMove: mayMove)
            guard interruption.hasCome else { return nil }
            await station.stop()
            station.writeSummaries()
            return .interrupted
        } catch let error as CallError {
            await station.stop()
            station.writeSummaries()
            if interruption.hasCome { return .interrupted }
            guard station.options.registers, error.code != .portUnavailable, error.code != .invalidArgument else {
                throw error
            }
            Terminal.complain("offhook: not registered: \(error)")
            return .notRegistered
        }
    }
}
