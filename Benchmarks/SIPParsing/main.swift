import Glibc
import OffhookBasics
import OffhookSIP

@_silgen_name("bench_osip") func benchOsip(_ bytes: UnsafePointer<CChar>, _ length: UInt) -> CInt
@_silgen_name("bench_sofia") func benchSofia(_ bytes: UnsafePointer<CChar>, _ length: UInt) -> CInt

// Messages a second of three parsers on the same messages: those of the tests' fixtures that all three read.

func processorSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
}

func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
    }
}

func c(_ parse: (UnsafePointer<CChar>, UInt) -> CInt, _ bytes: [UInt8]) -> Bool {
    // A zero after the end: osip looks at one byte more than it is told of.
    (bytes + [0]).withUnsafeBytes { parse($0.baseAddress!.assumingMemoryBound(to: CChar.self), UInt(bytes.count)) } == 1
}

let readers: [(name: String, read: ([UInt8]) -> Bool)] = [
    ("Offhook", { (try? SIPMessage(parsing: $0)) != nil }),
    ("libosip2", { c(benchOsip, $0) }),
    ("sofia-sip", { c(benchSofia, $0) }),
]
let messages = CommandLine.arguments.dropFirst().compactMap(contents).filter { bytes in
    readers.allSatisfy { $0.read(bytes) }
}
guard !messages.isEmpty else {
    print("name files with SIP messages")
    exit(2)
}
print(
    "\(messages.count) messages that all three read, \(messages.reduce(0) { $0 + $1.count } / messages.count) bytes on average"
)
var best = [Double](repeating: 0, count: readers.count)
for _ in 0..<7 {
    for (index, reader) in readers.enumerated() {
        let start = processorSeconds()
        var count = 0
        while processorSeconds() - start < 0.3 {
            for message in messages where reader.read(message) { count += 1 }
        }
        best[index] = max(best[index], Double(count) / (processorSeconds() - start))
    }
}
for (index, reader) in readers.enumerated() {
    let ratio = (best[0] / best[index] * 100).rounded() / 100
    print(
        "\(reader.name): \(Int(best[index])) messages a second\(index == 0 ? "" : "; Offhook reads \(ratio) times as many")"
    )
}
