import Foundation
import OffhookBasics
import OffhookMedia
import Testing

/// A picture of soft shapes that move with its number, in either format with the same content.
func picture(
    _ number: Int, size: VideoSize = VideoSize(width: 64, height: 48), format: PixelFormat = .i420,
    rotation: VideoRotation = .none, interval: Duration = .milliseconds(33)
) -> VideoFrame {
    let buffer = VideoFrameBuffer(size: size, pixelFormat: format)
    let shift = number * 3
    func luma(_ x: Int, _ y: Int) -> UInt8 {
        let wave = 60 * sin(Double(x + shift) / 9) + 40 * cos(Double(y) / 7)
        return UInt8(min(max(128 + wave, 16), 235))
    }
    func chroma(_ x: Int, _ y: Int, _ phase: Double) -> UInt8 {
        UInt8(min(max(128 + 50 * sin(Double(x + y + shift) / 15 + phase), 16), 240))
    }
    fill(buffer, plane: 0) { x, y in luma(x, y) }
    switch format {
    case .i420:
        fill(buffer, plane: 1) { x, y in chroma(x, y, 0) }
        fill(buffer, plane: 2) { x, y in chroma(x, y, 2) }
    case .nv12:
        fill(buffer, plane: 1) { x, y in chroma(x / 2, y, x % 2 == 0 ? 0 : 2) }
    }
    return VideoFrame(
        buffer: buffer, rotation: rotation, captureTime: .zero + .nanoseconds(interval.inNanoseconds * Int64(number)))
}

func fill(_ buffer: VideoFrameBuffer, plane: Int, _ value: (Int, Int) -> UInt8) {
    let stride = buffer.stride(ofPlane: plane)
    buffer.withMutablePlane(plane) { bytes in
        for y in 0..<buffer.rows(ofPlane: plane) {
            for x in 0..<buffer.rowBytes(ofPlane: plane) { bytes[y * stride + x] = value(x, y) }
        }
    }
}

/// A plane's samples without padding.
func samples(of frame: VideoFrame, plane: Int) -> [UInt8] {
    let stride = frame.stride(ofPlane: plane)
    let rowBytes = frame.rowBytes(ofPlane: plane)
    return frame.withPlane(plane) { span in
        var samples: [UInt8] = []
        samples.reserveCapacity(rowBytes * frame.rows(ofPlane: plane))
        for y in 0..<frame.rows(ofPlane: plane) {
            for x in 0..<rowBytes { samples.append(span[y * stride + x]) }
        }
        return samples
    }
}

/// The peak signal-to-noise ratio of a plane, in decibels.
func signalToNoise(_ left: VideoFrame, _ right: VideoFrame, plane: Int) -> Double {
    let left = samples(of: left, plane: plane)
    let right = samples(of: right, plane: plane)
    guard left.count == right.count else { return 0 }
    var error = 0
    for index in left.indices {
        let difference = Int(left[index]) - Int(right[index])
        error += difference * difference
    }
    return error == 0 ? 99 : 10 * log10(255 * 255 * Double(left.count) / Double(error))
}

/// One frame of an IVF file, or of another fixture.
func ivfFrames(_ file: [UInt8]) throws -> [[UInt8]] {
    func number(_ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
    }
    var offset = number(6, 2)
    var frames: [[UInt8]] = []
    while offset + 12 <= file.count {
        let size = number(offset, 4)
        try #require(offset + 12 + size <= file.count)
        frames.append(Array(file[(offset + 12)..<(offset + 12 + size)]))
        offset += 12 + size
    }
    return frames
}

func fixture(_ path: String) throws -> [UInt8] {
    let url = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(path)")
    return Array(try Data(contentsOf: url))
}

/// Takes pictures and keeps them.
final class CollectingSink: VideoSink {
    private let collected = Lock<[VideoFrame]>([])
    var frames: [VideoFrame] { collected.withLock { $0 } }

    func handleVideoFrame(_ frame: VideoFrame) {
        collected.withLock { $0.append(frame) }
    }
}
