import Foundation
import Offhook

/// Registers many accounts with a server and has them call each other through it:
/// `CallSoak accounts SERVER ACCOUNTS CALLS CALLS-AT-ONCE`.
@MainActor final class AccountSoak {
    private let callers: Crowd
    private let callees: Crowd

    init(server: String, accounts: Int) throws {
        callers = try Crowd(server: server, numbers: 0..<accounts / 2)
        callees = try Crowd(server: server, numbers: accounts / 2..<accounts)
    }

    func run(calls: Int, atOnce: Int) async throws {
        let begin = Instant.now
        report("before", ["seconds": 0])
        let unregistered = await callers.start() + callees.start()
        report("registered", ["seconds": (Instant.now - begin).inSeconds, "lost": Double(unregistered)])

        var lost = 0
        var setups: [Double] = []
        var next = 0
        await withTaskGroup(of: Double?.self) { group in
            func add() {
                let number = next
                next += 1
                group.addTask { await self.call(number) }
            }
            while next < min(atOnce, calls) { add() }
            while let setup = await group.next() {
                if let setup { setups.append(setup) } else { lost += 1 }
                let done = setups.count + lost
                if done.isMultiple(of: max(calls / 10, 1)) {
                    report(
                        "calls",
                        [
                            "calls": Double(done), "lost": Double(lost), "seconds": (Instant.now - begin).inSeconds,
                            "setupMedian": setups.sorted()[safe: setups.count / 2] ?? 0, "setupMost": setups.max() ?? 0,
                        ])
                }
                if next < calls { add() }
            }
        }
        try? await Task.sleep(for: .seconds(5))
        report("after", ["lost": Double(lost), "seconds": (Instant.now - begin).inSeconds])
        await callers.stop()
        await callees.stop()
        report("stopped", ["open": Double(callers.openCalls + callees.openCalls)])
    }

    /// One call; nil where it did not come about.
    private func call(_ number: Int) async -> Double? {
        let callee = callees.users[number * 7 % callees.users.count]
        return await callers.call(callee.configuration.address, from: number)
    }

    private func report(_ phase: String, _ figures: [String: Double]) {
        let holdings = Holdings.now
        var values = figures
        values["descriptors"] = Double(holdings.descriptors)
        values["threads"] = Double(holdings.threads)
        values["kilobytes"] = Double(holdings.kilobytes)
        let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(($0.value * 10).rounded() / 10)" }
        print("{\"phase\":\"\(phase)\",\(members.joined(separator: ","))}")
        fflush(nil)
    }
}

/// Many accounts of one client, which take every call.
@MainActor private final class Crowd: CallServiceDelegate, CallDelegate {
    let client: Client
    private(set) var users: [User] = []
    private var waiting: [Call.ID: CheckedContinuation<Void, Never>] = [:]
    private var failed: Set<Call.ID> = []

    init(server: String, numbers: Range<Int>) throws {
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(version4: 0x7F00_0001)
        configuration.port = 0
        configuration.mediaSecurity = .off
        configuration.audioCodecs = [.pcmu]
        configuration.videoCodecs = []
        client = Client(configuration: configuration)
        for number in numbers {
            let name = "user\(number)"
            let user = try client.createUser(
                UserConfiguration(
                    address: "sip:\(name)@lab.test",
                    credentials: Credentials(authenticationName: name, password: name + "pw"),
                    server: SignalingServer(server, transport: .udp)))
            user.callService.delegate = self
            users.append(user)
        }
    }

    var openCalls: Int { users.reduce(0) { $0 + $1.callService.calls.count } }

    /// Registers all; returns how many could not be.
    func start() async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for user in users {
                group.addTask {
                    do {
                        try await user.start()
                        return true
                    } catch {
                        FileHandle.standardError.write(Data("\(user.configuration.address): \(error)\n".utf8))
                        // It goes on trying by itself.
                        for _ in 0..<60 where user.registration.state != .registered {
                            try? await Task.sleep(for: .seconds(1))
                        }
                        return user.registration.state == .registered
                    }
                }
            }
            var lost = 0
            for await isRegistered in group where !isRegistered { lost += 1 }
            return lost
        }
    }

    func stop() async { await client.shutdown() }

    /// Calls, stays for a moment and hangs up; returns the milliseconds to the answer.
    func call(_ address: String, from number: Int) async -> Double? {
        guard let call = try? users[number % users.count].callService.createCall(to: address) else { return nil }
        call.delegate = self
        let begin = Instant.now
        let isUp = (try? await call.start()) != nil
        let setup = (Instant.now - begin).inMilliseconds
        if isUp { try? await Task.sleep(for: .milliseconds(100)) }
        await withCheckedContinuation { continuation in
            waiting[call.id] = continuation
            call.end()
        }
        return failed.remove(call.id) == nil && isUp ? setup : nil
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task { try? await call.accept() }
    }

    func callService(_ callService: CallService, didRemove call: Call) {
        waiting.removeValue(forKey: call.id)?.resume()
    }

    func callDidEstablish(_ call: Call) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {}

    func call(_ call: Call, didFailWithError error: CallError) {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        if call.direction == .outgoing { failed.insert(call.id) }
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {}
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
