import Offhook

/// Writes events as JSON lines, each with the time, its name and its call, and each at once.
@MainActor final class EventWriter {
    private let start: Instant
    private let write: (String) -> Void
    /// The newest event's name.
    private(set) var lastEvent: String?

    /// - Parameter write: takes each line, without its end.
    init(start: Instant = .now, write: @escaping (String) -> Void = EventWriter.writeToStandardOutput) {
        self.start = start
        self.write = write
    }

    func write(
        _ event: String, call: Call.ID? = nil, at now: Instant = .now,
        _ members: KeyValuePairs<String, JSONValue> = [:]
    ) {
        lastEvent = event
        let milliseconds = ((now - start).inMilliseconds).rounded()
        let head: [JSONValue.Member] = [
            .init(name: "time", value: .number(milliseconds / 1000)), .init(name: "event", value: .text(event)),
            .init(name: "call", value: JSONValue(call?.description)),
        ]
        write(JSONValue.object(head + members.map { JSONValue.Member(name: $0.key, value: $0.value) }).line)
    }

    nonisolated static func writeToStandardOutput(_ line: String) {
        OutputQueue.standardOutput.write(line + "\n")
    }
}
