import Foundation
import Offhook

/// Makes many calls between two clients of one process, one after another and then at once, and prints what the process holds
/// before and after: `CallSoak CALLS CALLS-AT-ONCE`.
@main
enum Soak {
    @MainActor static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let counts = words.compactMap { Int($0) }
        if words.first == "accounts", let server = words.dropFirst().first, counts.count == 3 {
            let soak = try AccountSoak(server: server, accounts: counts[0])
            return try await soak.run(calls: counts[1], atOnce: counts[2])
        }
        guard counts.count == 2 else {
            print("type: CallSoak CALLS CALLS-AT-ONCE, or CallSoak accounts SERVER ACCOUNTS CALLS CALLS-AT-ONCE")
            exit(2)
        }
        let caller = try Endpoint(name: "caller")
        let callee = try Endpoint(name: "callee")
        try await caller.user.start()
        try await callee.user.start()

        // The first calls fill pools and caches that stay.
        try await together(counts[1], from: caller, to: callee)
        for _ in 0..<20 { try await caller.call(callee) }
        let atFirst = await Holdings.settled()
        report("at first", atFirst)

        var setups: [Double] = []
        for _ in 0..<counts[0] { setups.append(try await caller.call(callee)) }
        setups.sort()
        report("one after another", await Holdings.settled(above: atFirst), setups: setups)
        for round in ["once", "twice", "thrice"] {
            report("at once, \(round)", try await together(counts[1], from: caller, to: callee, atFirst))
        }

        await caller.client.shutdown()
        await callee.client.shutdown()
        report("at last", await Holdings.settled(above: atFirst))
    }

    @discardableResult
    private static func together(
        _ count: Int, from caller: Endpoint, to callee: Endpoint, _ before: Holdings? = nil
    ) async throws -> Holdings {
        let calls = (0..<count).map { _ in Task { try await caller.call(callee, lasting: .seconds(3)) } }
        for call in calls { _ = try await call.value }
        return await Holdings.settled(above: before)
    }

    private static func report(_ name: String, _ holdings: Holdings, setups: [Double] = []) {
        var line = "\"phase\":\"\(name)\",\"descriptors\":\(holdings.descriptors),\"threads\":\(holdings.threads)"
        line += ",\"kilobytes\":\(holdings.kilobytes)"
        if let most = setups.last { line += ",\"setupMedian\":\(setups[setups.count / 2]),\"setupMost\":\(most)" }
        FileHandle.standardOutput.write(Data("{\(line)}\n".utf8))
    }
}
