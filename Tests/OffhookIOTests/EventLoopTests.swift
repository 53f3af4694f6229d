import Foundation
import OffhookBasics
import OffhookIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Event loop` {
    @Test func `runs the work of each thread in the order it was submitted`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<(thread: Int, index: Int)>()

            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask { for index in 0..<500 { loop.submit { inbox.put((thread, index)) } } }
                }
            }

            let all = try await inbox.wait(for: 2000)
            for thread in 0..<4 { #expect(all.filter { $0.thread == thread }.map(\.index) == Array(0..<500)) }
        }
    }

    @Test func `wakes for work each time it sleeps`() async throws {
        try await withLoop { loop in
            for round in 0..<300 {
                let value = try await loop.run { round }
                #expect(value == round)
            }
        }
    }

    @Test func `fires timers by deadline, and those of one deadline as armed`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Int>()

            _ = try await loop.run {
                let now = loop.now
                for (deadline, name) in [(3, 5), (1, 1), (2, 3), (1, 2), (2, 4)] {
                    loop.schedule(at: now + .milliseconds(deadline)) { inbox.put(name) }
                }
            }

            #expect(try await inbox.wait(for: 5) == [1, 2, 3, 4, 5])
        }
    }

    @Test func `never fires a timer early`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Duration>()

            _ = try await loop.run {
                let now = loop.now
                for step in 1...20 {
                    let deadline = now + .microseconds(step * 150)
                    loop.schedule(at: deadline) { inbox.put(loop.now - deadline) }
                }
            }

            #expect(try await inbox.wait(for: 20).allSatisfy { $0 >= .zero })
        }
    }

    @Test func `does not fire a timer that was disarmed, and an armed one once`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<String>()

            _ = try await loop.run {
                let now = loop.now
                let disarmed = loop.schedule(at: now + .milliseconds(1)) { inbox.put("disarmed") }
                let moved = loop.makeTimer { inbox.put("moved") }
                moved.arm(at: now + .seconds(60))
                moved.arm(at: now + .milliseconds(2))
                loop.schedule(at: now + .milliseconds(5)) { inbox.put("end") }
                disarmed.disarm()
                disarmed.disarm()
            }

            #expect(try await inbox.wait(for: 2) == ["moved", "end"])
        }
    }

    @Test func `keeps ten thousand timers in order while many are disarmed and moved`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Int64>()

            let expected = try await loop.run {
                var random = SeededRandom(seed: 7)
                let now = loop.now
                var timers: [(LoopTimer, Int64)] = []
                for _ in 0..<10_000 {
                    let delay = Int64.random(in: 0..<5_000_000, using: &random)
                    timers.append((loop.schedule(at: now + .nanoseconds(delay)) { inbox.put(delay) }, delay))
                }
                var kept: [Int64] = []
                for (index, (timer, delay)) in timers.enumerated() {
                    if index % 3 == 0 { timer.disarm() } else { kept.append(delay) }
                    if index % 3 == 1 { timer.arm(at: now + .nanoseconds(delay)) }
                }
                return kept.sorted()
            }

            #expect(try await inbox.wait(for: expected.count) == expected)
        }
    }

    @Test func `does submitted work between timers that rearm themselves at once`() async throws {
        try await withLoop { loop in
            _ = try await loop.run { Spinner(loop).start() }

            #expect(try await loop.run { 42 } == 42)
        }
    }

    private final class Spinner: @unchecked Sendable {
        private let loop: EventLoop

        init(_ loop: EventLoop) { self.loop = loop }

        func start() { loop.schedule(at: .zero) { self.start() } }
    }

    @Test func `is the executor of an actor, whose handlers run isolated`() async throws {
        try await withLoop { loop in
            let counter = Counter(loop)

            for _ in 0..<50 { await counter.add(1) }
            _ = try await loop.run { counter.assumeIsolated { $0.add(100) } }

            #expect(await counter.value == 150)
            #expect(await counter.isOnLoop)
            #expect(!loop.isOnLoop)
        }
    }

    @Test func `runs tasks that prefer it`() async throws {
        try await withLoop { loop in
            let wasOnLoop = await Task(executorPreference: loop) { @concurrent in loop.isOnLoop }.value

            #expect(wasOnLoop)
        }
    }

    @Test func `does what was submitted before shutdown, and lets tasks of its actor finish after it`() async throws {
        let loop = try EventLoop()
        let counter = Counter(loop)
        let inbox = Inbox<Int>()
        for index in 0..<100 { loop.submit { inbox.put(index) } }

        await shutDown(loop)
        await shutDown(loop)
        await counter.add(5)

        #expect(inbox.all == Array(0..<100))
        #expect(await counter.value == 5)
        #expect(await counter.isOnLoop)
    }

    @Test func `refuses sockets after shutdown`() async throws {
        let loop = try EventLoop()
        await shutDown(loop)

        await #expect(throws: IOError.self) {
            try await loop.run {
                _ = try UDPSocket(on: loop, boundTo: Endpoint(loopback4, 0), reception: .datagrams { _, _, _ in })
            }
        }
    }

    @Test func `names its thread`() async throws {
        let loop = try EventLoop(name: "named-loop-with-a-long-name")
        let name = try await loop.run {
            try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }
        await shutDown(loop)

        #expect(name == "named-loop-with\n")
    }

    @Test func `leaves no descriptor behind`() async throws {
        let before = try openDescriptorCount()
        for _ in 0..<100 {
            let loop = try EventLoop()
            _ = try await loop.run {
                let socket = try UDPSocket(
                    on: loop, boundTo: Endpoint(loopback4, 0), reception: .packets { packet, _, _ in loop.give(packet) }
                )
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { $0.handler = { _ in } }
                _ = StreamConnection(on: loop, connectingTo: listener.localEndpoint) { _ in }
                _ = try InterfaceMonitor(on: loop) { _ in }
                socket.send([1], to: socket.localEndpoint)
            }
            await shutDown(loop)
        }

        try await descriptorsFall(below: before + 100)
    }
}

private actor Counter {
    let loop: EventLoop
    var value = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func add(_ amount: Int) { value += amount }

    var isOnLoop: Bool { loop.isOnLoop }
}
