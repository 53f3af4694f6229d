internal import Offhook
internal import OffhookBasics

/// Pictures for checks.
enum Picture {
    /// A picture whose samples follow from its number.
    static func make(
        _ number: Int, _ size: VideoSize, pixelFormat: PixelFormat = .i420, rotation: VideoRotation = .none,
        milliseconds: Int64? = nil
    ) -> VideoFrame {
        let buffer = VideoFrameBuffer(size: size, pixelFormat: pixelFormat)
        fill(buffer, number)
        let time = Instant.zero + .milliseconds(milliseconds ?? Int64(number) * 33)
        return VideoFrame(buffer: buffer, rotation: rotation, captureTime: time)
    }

    static func several(_ count: Int, _ size: VideoSize) -> [VideoFrame] {
        (0..<count).map { make($0, size) }
    }

    /// A picture that is counted as long as it lives.
    static func counted(_ number: Int, _ living: Lock<Int>) -> VideoFrame {
        let size = VideoSize(width: 160, height: 120)
        let byteCount = VideoFrameBuffer.requiredBytes(size: size, pixelFormat: .i420)
        living.withLock { $0 += 1 }
        let buffer = VideoFrameBuffer(
            size: size, pixelFormat: .i420, memory: .allocate(byteCount: byteCount, alignment: 64)
        ) { memory in
            memory.deallocate()
            living.withLock { $0 -= 1 }
        }
        fill(buffer, number)
        return VideoFrame(buffer: buffer, captureTime: .zero + .milliseconds(33 * number))
    }

    private static func fill(_ buffer: VideoFrameBuffer, _ number: Int) {
        for plane in 0..<buffer.pixelFormat.planeCount {
            buffer.withMutablePlane(plane) { bytes in
                bytes.update(repeating: UInt8(truncatingIfNeeded: 16 &+ number &* 7))
                for index in 0..<min(bytes.count, 256) { bytes[index] = UInt8(truncatingIfNeeded: index &+ number) }
            }
        }
    }

    /// A number that changes with the samples (FNV-1a).
    static func checksum(_ frame: VideoFrame) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for plane in 0..<frame.planeCount {
            frame.withPlane(plane) { bytes in
                for index in bytes.indices { sum = (sum ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
            }
        }
        return sum
    }
}
