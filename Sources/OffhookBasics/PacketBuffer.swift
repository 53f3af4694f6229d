/// Room for one datagram, taken from a ``PacketPool`` and given back, so that packets in steady state allocate nothing.
///
/// One owner at a time: it is handed from socket to engine to socket and never used by two threads at once.
package final class PacketBuffer: @unchecked Sendable {
    /// Bytes a buffer holds: the largest datagram of an Ethernet path, with room for SRTP's index, MKI and tag.
    package static let capacity = 2048

    // A fixed address lets sockets and ciphers work in place; every access below is checked against `capacity`.
    private let storage: UnsafeMutableRawPointer

    /// How many bytes are in use, from the front.
    package var count = 0 {
        didSet { precondition(count >= 0 && count <= Self.capacity, "a packet never outgrows its buffer") }
    }

    package init() {
        storage = .allocate(byteCount: Self.capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    /// The bytes in use.
    package var bytes: RawSpan {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(RawSpan(_unsafeStart: storage, byteCount: count), borrowing: self) }
    }

    /// Replaces the content.
    package func assign(_ content: RawSpan) {
        count = content.byteCount
        content.withUnsafeBytes {
            storage.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(storage), byteCount: $0.count)
        }
    }

    /// Replaces the content.
    package func assign(_ content: [UInt8]) {
        count = content.count
        content.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            storage.copyMemory(from: start, byteCount: source.count)
        }
    }

    package func append(_ content: RawSpan) {
        let start = count
        count += content.byteCount
        content.withUnsafeBytes { source in
            guard let from = source.baseAddress else { return }
            (storage + start).copyMemory(from: from, byteCount: source.count)
        }
    }

    package func append(_ byte: UInt8) {
        count += 1
        storage.storeBytes(of: byte, toByteOffset: count - 1, as: UInt8.self)
    }

    package func appendBigEndian<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
        count += MemoryLayout<Integer>.size
        storage.storeBytes(of: value.bigEndian, toByteOffset: count - MemoryLayout<Integer>.size, as: Integer.self)
    }

    package subscript(offset: Int) -> UInt8 {
        get {
            precondition(offset >= 0 && offset < count, "an offset lies inside the packet")
            return storage.load(fromByteOffset: offset, as: UInt8.self)
        }
        set {
            precondition(offset >= 0 && offset < count, "an offset lies inside the packet")
            storage.storeBytes(of: newValue, toByteOffset: offset, as: UInt8.self)
        }
    }

    /// The whole room, for system calls and ciphers; `body` returns how many bytes are in use afterwards.
    package func withWholeBuffer<Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        count = try body(UnsafeMutableRawBufferPointer(start: storage, count: Self.capacity))
    }
}

/// A free list of packet buffers. It belongs to one thread.
package struct PacketPool {
    private var free: [PacketBuffer] = []

    package init() {}

    package mutating func take() -> PacketBuffer {
        guard let buffer = free.popLast() else { return PacketBuffer() }
        buffer.count = 0
        return buffer
    }

    /// A buffer that lies idle; nil rather than a new one.
    package mutating func takeIdle() -> PacketBuffer? {
        free.popLast()
    }

    package mutating func give(_ buffer: PacketBuffer) {
        guard free.count < 4096 else { return }
        free.append(buffer)
    }
}
