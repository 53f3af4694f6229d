public import OffhookBasics
public import OffhookMedia

/// What a test picture says of itself.
public struct TestPattern: Hashable, Sendable {
    /// The picture's number, counted from 0, modulo 2^24.
    public var frameNumber: Int
    /// When it was drawn: microseconds of the monotonic clock, modulo 2^40 (12 days).
    public var clock: UInt64
    /// How the picture was turned: by so much clockwise it must be turned to stand upright.
    public var rotation: VideoRotation

    private static let clockMask: UInt64 = (1 << 40) - 1

    /// Makes a pattern's content.
    public init(frameNumber: Int, clock: UInt64, rotation: VideoRotation = .none) {
        self.frameNumber = frameNumber & 0xFF_FFFF
        self.clock = clock & Self.clockMask
        self.rotation = rotation
    }

    /// The content of a picture drawn at an instant.
    public init(frameNumber: Int, drawnAt instant: Instant) {
        self.init(frameNumber: frameNumber, clock: Self.clock(at: instant))
    }

    /// The clock's reading at an instant.
    public static func clock(at instant: Instant) -> UInt64 {
        UInt64(truncatingIfNeeded: instant.nanoseconds / 1000) & clockMask
    }

    /// How long ago the picture was drawn, on the same machine and less than 12 days ago.
    public func age(at now: Instant) -> Duration {
        .microseconds(Int64((Self.clock(at: now) &- clock) & Self.clockMask))
    }
}
