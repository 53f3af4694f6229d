internal import OffhookBasics

/// Numbers that are given out once in a process.
enum ProcessCounter {
    private static let last = Lock<UInt64>(0)

    static func next() -> UInt64 {
        last.withLock { value in
            value &+= 1
            return value
        }
    }
}
