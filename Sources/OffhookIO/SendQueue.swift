/// Bytes that wait until a stream takes them, up to a limit.
struct SendQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Offers what waits to `write`, which says how many bytes it took, until it takes no more.
    mutating func drain(_ write: (UnsafeRawBufferPointer) -> Int) {
        while !isEmpty {
            let taken = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            guard taken > 0 else { break }
            start += taken
        }
        if isEmpty {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 65_536)
            start = 0
        } else if start > 65_536, start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() {
        self = SendQueue()
    }
}
