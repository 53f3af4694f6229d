internal import OffhookBasics

/// What is known about the source that is being received.
struct RemoteSource {
    let ssrc: SSRC
    var reception: ReceptionStatistics
    var clockRate: Int
    /// What the last sender report said: a moment of the media clock and of the wall clock.
    var report: (timestamp: RTPTimestamp, time: NTPTimestamp)?

    init(ssrc: SSRC, first: SequenceNumber, clockRate: Int) {
        self.ssrc = ssrc
        reception = ReceptionStatistics(first: first)
        self.clockRate = clockRate
    }

    func captureTime(of timestamp: RTPTimestamp) -> NTPTimestamp? {
        guard let report else { return nil }
        let units = Int64(timestamp - report.timestamp)
        return report.time.advanced(by: .nanoseconds(units * 1_000_000_000 / Int64(clockRate)))
    }

    var jitter: Duration {
        .nanoseconds(Int64(reception.jitter) * 1_000_000_000 / Int64(clockRate))
    }
}
