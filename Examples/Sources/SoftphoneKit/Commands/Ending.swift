import Offhook

/// Waits until a command is done or interrupted, then leaves everything in order.
@MainActor final class Ending {
    private let station: Station
    private let interruption: Interruption
    private let isDone: (Station) -> Bool
    /// A person closed the window, which is how they leave.
    private var isLeft = false
    private var continuation: CheckedContinuation<Void, Never>?

    /// How long the far end may take to agree that calls are over, once interrupted.
    private static let patience = Duration.seconds(3)

    init(station: Station, interruption: Interruption, isDone: @escaping (Station) -> Bool) {
        self.station = station
        self.interruption = interruption
        self.isDone = isDone
    }

    func wait() async -> ExitStatus {
        station.onSessionEnd = { [self] in resumeIfDone() }
        interruption.onInterrupt { [self] in
            for session in station.sessions.values { session.call.end() }
            Task {
                try await Task.sleep(for: Self.patience)
                resume()
            }
            resumeIfDone()
        }
        station.screen?.onClose = { [self] in
            for session in station.sessions.values { session.call.end() }
            isLeft = true
            resumeIfDone()
        }
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            resumeIfDone()
        }
        await station.stop()
        // The last line, whatever stopping has told.
        station.writeSummaries()
        if interruption.hasCome { return .interrupted }
        if station.hasFileTrouble { return .deviceFailed }
        return station.outcomes.first { $0 != .success } ?? .success
    }

    private func resumeIfDone() {
        let isOver =
            isDone(station)
            || ((interruption.hasCome || isLeft) && station.sessions.isEmpty && !station.isFinishing)
        if isOver {
            resume()
        } else if !station.isFinishing {
            station.writeSummaries(ofCallsAlone: true)
        }
    }

    private func resume() {
        continuation?.resume()
        continuation = nil
    }
}
