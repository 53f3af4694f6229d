import Foundation

/// What this process holds.
struct Holdings {
    var descriptors: Int
    var threads: Int
    /// Memory that is resident.
    var kilobytes: Int

    static var now: Holdings {
        trim()
        return Holdings(
            descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"),
            kilobytes: status("VmRSS:"))
    }

    /// Has the allocator give back what is free, so that what stays is what is held.
    private static func trim() {
        // The function is not in what Swift imports of the C library.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }

    /// What the system's allocator may keep, in kilobytes.
    private static let allocatorKeeps = 12_000

    /// Once what ends in its own time has ended: the transactions of a call's end and what they hold (5 s, RFC 3261 §17.1.2.2),
    /// and idle threads of the system's pool. What has not ended after 20 s is told as it is.
    @MainActor static func settled(above floor: Holdings? = nil) async -> Holdings {
        var last = now
        for _ in 0..<100 {
            try? await Task.sleep(for: .milliseconds(200))
            let next = now
            if let floor {
                if next.descriptors <= floor.descriptors, next.threads <= floor.threads,
                    next.kilobytes < floor.kilobytes + allocatorKeeps
                {
                    return next
                }
            } else if next.descriptors == last.descriptors, next.threads == last.threads {
                return next
            }
            last = next
        }
        return last
    }

    private static func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? -1
    }

    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]) } ?? -1
    }
}
