public import OffhookBasics

/// How a picture's samples are laid out in memory.
public enum PixelFormat: String, Hashable, Sendable, CaseIterable {
    /// Three planes of 8-bit samples: Y (width × height), U and V ((width + 1) / 2 × (height + 1) / 2 each).
    case i420
    /// Two planes of 8-bit samples: Y (width × height), and U and V in turn ((width + 1) / 2 pairs a row,
    /// (height + 1) / 2 rows).
    case nv12

    /// How many planes there are.
    public var planeCount: Int { self == .i420 ? 3 : 2 }
}

/// A picture's size in pixels.
public struct VideoSize: Hashable, Sendable, Codable {
    /// Pixels a row.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Makes a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

extension VideoSize: CustomStringConvertible {
    /// As in `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// By how much a picture must be turned clockwise to stand upright.
public enum VideoRotation: Int, Hashable, Sendable, CaseIterable {
    /// It stands upright.
    case none = 0
    /// A quarter turn clockwise.
    case quarter = 90
    /// Half a turn.
    case half = 180
    /// Three quarters of a turn clockwise.
    case threeQuarters = 270
}

/// What a picture shows, as far as it matters to how it is best coded.
public enum VideoContent: String, Hashable, Sendable, CaseIterable {
    /// What a camera sees: movement counts for more than single pixels.
    case camera
    /// What is on a screen: it must be readable, and may change in steps.
    case screen
}

/// One picture on its way from a camera or a decoder.
///
/// A frame refers to a buffer that it shares with whoever else holds the frame; nothing is copied on the way. The
/// buffer goes back to its pool when the last holder lets go, so a sink that keeps frames starves its source: hold two
/// at most, the newest and one that is being worked on, or copy the pixels.
public struct VideoFrame: Sendable {
    /// The pixels.
    public let buffer: VideoFrameBuffer
    /// How to turn the picture for display.
    public var rotation: VideoRotation
    /// When the picture was taken, on the local monotonic clock; for a received picture, when it is due.
    public var captureTime: Instant
    /// What it shows, which the encoder goes by.
    public var content: VideoContent

    /// Makes a frame of a filled buffer.
    public init(
        buffer: VideoFrameBuffer, rotation: VideoRotation = .none, captureTime: Instant, content: VideoContent = .camera
    ) {
        self.buffer = buffer
        self.rotation = rotation
        self.captureTime = captureTime
        self.content = content
    }

    /// The picture's size in pixels, before rotation.
    public var size: VideoSize { buffer.size }
    /// Pixels a row, before rotation.
    public var width: Int { buffer.size.width }
    /// Rows, before rotation.
    public var height: Int { buffer.size.height }
    /// The layout of the planes.
    public var pixelFormat: PixelFormat { buffer.pixelFormat }
    /// How many planes there are: 3 for I420, 2 for NV12.
    public var planeCount: Int { buffer.pixelFormat.planeCount }

    /// Bytes from one row of a plane to the next; at least the row's own bytes.
    public func stride(ofPlane plane: Int) -> Int { buffer.stride(ofPlane: plane) }

    /// Bytes of a plane's row that hold samples.
    public func rowBytes(ofPlane plane: Int) -> Int { buffer.rowBytes(ofPlane: plane) }

    /// Rows of a plane.
    public func rows(ofPlane plane: Int) -> Int { buffer.rows(ofPlane: plane) }

    /// Lends a plane's bytes, `rows × stride` of them, for the length of `body`.
    public func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withPlane(plane, body)
    }
}
