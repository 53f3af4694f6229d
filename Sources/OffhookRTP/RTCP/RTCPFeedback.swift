/// Packets that a receiver misses (RFC 4585 §6.2.1).
package struct NegativeAcknowledgement: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var packet: SequenceNumber
        /// Bit i set: packet + i + 1 is missing as well.
        package var following: UInt16

        package init(packet: SequenceNumber, following: UInt16) {
            self.packet = packet
            self.following = following
        }
    }

    package var sender: SSRC
    package var media: SSRC
    package var entries: [Entry]

    package init(sender: SSRC, media: SSRC, entries: [Entry]) {
        self.sender = sender
        self.media = media
        self.entries = entries
    }

    /// From missing packets in the order of their numbers.
    package init(sender: SSRC, media: SSRC, missing: [SequenceNumber]) {
        self.init(sender: sender, media: media, entries: [])
        for number in missing {
            if let last = entries.last, case let distance = number - last.packet, (1...16).contains(distance) {
                entries[entries.count - 1].following |= 1 << UInt16(distance - 1)
            } else {
                entries.append(Entry(packet: number, following: 0))
            }
        }
    }

    /// The missing packets one by one.
    package var missing: [SequenceNumber] {
        entries.flatMap { entry in
            [entry.packet]
                + (0..<16).filter { entry.following >> UInt16($0) & 1 == 1 }.map { entry.packet.advanced(by: $0 + 1) }
        }
    }
}

/// RFC 4585 §6.3.1.
package struct PictureLossIndication: Hashable, Sendable {
    package var sender: SSRC
    package var media: SSRC

    package init(sender: SSRC, media: SSRC) {
        self.sender = sender
        self.media = media
    }
}

/// RFC 5104 §4.3.1.
package struct FullIntraRequest: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var media: SSRC
        /// Goes up with each new request; a repeated request keeps it.
        package var sequenceNumber: UInt8

        package init(media: SSRC, sequenceNumber: UInt8) {
            self.media = media
            self.sequenceNumber = sequenceNumber
        }
    }

    package var sender: SSRC
    package var entries: [Entry]

    package init(sender: SSRC, entries: [Entry]) {
        self.sender = sender
        self.entries = entries
    }
}

/// RFC 5104 §4.2.1 and §4.2.2.
package struct TemporaryMaximumBitrate: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var media: SSRC
        package var bitsPerSecond: Int
        /// Bytes of lower-layer headers per packet, as the asking side counts them.
        package var overhead: Int

        package init(media: SSRC, bitsPerSecond: Int, overhead: Int) {
            self.media = media
            self.bitsPerSecond = bitsPerSecond
            self.overhead = overhead
        }
    }

    package var sender: SSRC
    package var entries: [Entry]

    package init(sender: SSRC, entries: [Entry]) {
        self.sender = sender
        self.entries = entries
    }
}

/// draft-alvestrand-rmcat-remb §2.2.
package struct ReceiverEstimatedMaximumBitrate: Hashable, Sendable {
    package var sender: SSRC
    package var bitsPerSecond: Int
    package var sources: [SSRC]

    package init(sender: SSRC, bitsPerSecond: Int, sources: [SSRC]) {
        self.sender = sender
        self.bitsPerSecond = bitsPerSecond
        self.sources = sources
    }
}

/// Which packets of a transport arrived and when (draft-holmer-rmcat-transport-wide-cc-extensions §3.1).
package struct TransportFeedback: Hashable, Sendable {
    package enum Arrival: Hashable, Sendable {
        case lost
        /// Came, after the packet that came before it (or the reference time), in units of 250 µs.
        case received(delta: Int16)
    }

    package var sender: SSRC
    package var media: SSRC
    package var base: SequenceNumber
    /// In units of 64 ms; 24 bits, signed.
    package var referenceTime: Int32
    package var feedbackCount: UInt8
    /// One for each number from `base` on.
    package var arrivals: [Arrival]

    package init(
        sender: SSRC, media: SSRC, base: SequenceNumber, referenceTime: Int32, feedbackCount: UInt8,
        arrivals: [Arrival]
    ) {
        self.sender = sender
        self.media = media
        self.base = base
        self.referenceTime = referenceTime
        self.feedbackCount = feedbackCount
        self.arrivals = arrivals
    }
}
