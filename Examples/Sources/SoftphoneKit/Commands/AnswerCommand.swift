import Offhook

/// `offhook answer`
enum AnswerCommand {
    @MainActor static func run(_ options: Options) async throws -> ExitStatus {
        let interruption = Interruption.shared
        let station = try Station(options: options)
        let wanted = options.calls ?? (options.duration == nil ? Int.max : 1)
        var taken = 0
        station.onIncomingCall = { call in
            guard taken < wanted else { return nil }
            do {
                let session = try CallSession(call: call, station: station)
                taken += 1
                session.answer()
                return session
            } catch {
                station.note(fileTrouble: "\(error)")
                return nil
            }
        }
        if let status = try await RegistrationStep.start(station, mayMove: false) { return status }
        station.events?.write("listening", ["address": .text(station.user.configuration.address)])
        station.terminal.say("Waiting for calls as \(station.user.configuration.address). Ctrl-C ends.")

        let ending = Ending(station: station, interruption: interruption) {
            $0.outcomes.count >= wanted && $0.sessions.isEmpty
        }
        return await ending.wait()
    }
}
