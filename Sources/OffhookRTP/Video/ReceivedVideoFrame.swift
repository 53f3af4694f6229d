package import OffhookBasics

/// One encoded frame as it came over the network, whole and with everything it refers to already given out.
package struct ReceivedVideoFrame: Sendable {
    /// The frame, contiguous. Dropping the last reference makes the buffer free for a later frame.
    package var buffer: EncodedFrameBuffer
    package var isKeyFrame: Bool
    package var timestamp: RTPTimestamp
    package var payloadType: UInt8
    /// When its last packet came.
    package var receiveTime: Instant
    /// The VP8 PictureID, extended so that it does not wrap; nil where the sender sends none.
    package var pictureID: Int?
    /// When it was captured by the sender's wall clock, once a sender report told.
    package var captureTime: NTPTimestamp?
}

/// Memory for one encoded frame, written by the loop and then read by a decoder on another thread.
///
/// It is written while its pool holds the only reference and never after it has been handed out.
package final class EncodedFrameBuffer: @unchecked Sendable {
    // A raw block instead of an array: one frame after the other is appended without exclusivity or uniqueness checks.
    // Safe to share since `removeAll` and `append` are only called by the pool's owner while nobody else holds the object.
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int = 64 * 1024) {
        storage = .allocate(byteCount: capacity, alignment: 16)
        self.capacity = capacity
    }

    deinit {
        storage.deallocate()
    }

    package var bytes: RawSpan {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(RawSpan(_unsafeStart: storage, byteCount: count), borrowing: self) }
    }

    package func removeAll() {
        count = 0
    }

    package func append(_ content: RawSpan) {
        let needed = count + content.byteCount
        if needed > capacity {
            let larger = max(needed, capacity * 2)
            let block = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            block.copyMemory(from: storage, byteCount: count)
            storage.deallocate()
            storage = block
            capacity = larger
        }
        content.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            (storage + count).copyMemory(from: start, byteCount: source.count)
        }
        count = needed
    }
}
