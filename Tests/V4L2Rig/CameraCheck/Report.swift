import Glibc

/// Says of each check whether it held.
struct Report {
    private(set) var failures = 0

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    mutating func check(_ name: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            print("ok: \(name)")
        } catch {
            failures += 1
            print("not ok: \(name): \(error)")
        }
    }
}

func expect(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !holds { throw Report.Failure(otherwise()) }
}

func writeLine(_ line: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY)
    guard descriptor >= 0 else { throw Report.Failure("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    let bytes = Array("\(line)\n".utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
        throw Report.Failure("\(path) takes no line: \(String(cString: strerror(errno)))")
    }
}
