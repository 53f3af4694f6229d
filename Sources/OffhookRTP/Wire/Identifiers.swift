/// The number a stream of packets bears in place of a name (RFC 3550 §3).
package struct SSRC: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// A packet's place in its stream; it wraps after 65535 (RFC 3550 §5.1).
package struct SequenceNumber: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The number so many packets on, or back.
    package func advanced(by distance: Int) -> SequenceNumber {
        SequenceNumber(rawValue &+ UInt16(truncatingIfNeeded: distance))
    }

    /// How many packets the left number is ahead of the right one, by the shorter way round.
    package static func - (left: SequenceNumber, right: SequenceNumber) -> Int {
        Int(Int16(bitPattern: left.rawValue &- right.rawValue))
    }
}

/// A moment on a stream's media clock; it wraps after 2³² units (RFC 3550 §5.1).
package struct RTPTimestamp: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The moment so many clock units on, or back.
    package func advanced(by units: Int) -> RTPTimestamp {
        RTPTimestamp(rawValue &+ UInt32(truncatingIfNeeded: units))
    }

    /// How many units the left moment is after the right one, by the shorter way round.
    package static func - (left: RTPTimestamp, right: RTPTimestamp) -> Int {
        Int(Int32(bitPattern: left.rawValue &- right.rawValue))
    }
}
