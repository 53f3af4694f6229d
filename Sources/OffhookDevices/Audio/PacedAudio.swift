internal import OffhookBasics
package import OffhookMedia

/// What tone, silence and file have in common: 20 ms of sound every 20 ms while there is a sink.
package final class PacedAudio: Sendable {
    package static let framesPerSecond = 50

    private let slot = SinkSlot<any AudioSink>()
    private let ticket = Lock<MediaTicker.Ticket?>(nil)
    private let makeFrame: @Sendable (_ number: Int) -> AudioFrame

    /// `makeFrame` makes frame after frame, each 20 ms; it is called on one thread at a time.
    package init(makeFrame: @escaping @Sendable (_ number: Int) -> AudioFrame) {
        self.makeFrame = makeFrame
    }

    deinit {
        if let ticket = ticket.withLock({ $0 }) { MediaTicker.shared.cancel(ticket) }
    }

    package func setSink(_ sink: (any AudioSink)?) {
        slot.set(sink)
        let old = ticket.withLock { ticket -> MediaTicker.Ticket? in
            if sink == nil {
                defer { ticket = nil }
                return ticket
            }
            if ticket == nil {
                let (slot, makeFrame) = (slot, makeFrame)
                ticket = MediaTicker.shared.start(ticksPerSecond: Double(Self.framesPerSecond), catchesUp: true) {
                    number, due in
                    slot.deliver { sink in
                        var frame = makeFrame(number)
                        frame.captureTime = due
                        sink.handleAudioFrame(frame)
                    }
                }
            }
            return nil
        }
        if let old { MediaTicker.shared.cancel(old) }
    }
}
