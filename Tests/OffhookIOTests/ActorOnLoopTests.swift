import OffhookBasics
import OffhookIO
import Testing

/// How an actor on the loop uses sockets: handlers formed inside it run isolated to it, without a hop.
private actor Echo {
    private let loop: EventLoop
    private var socket: UDPSocket?
    private var timer: LoopTimer?
    private(set) var received = 0
    private(set) var ticks = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    func open() throws(IOError) -> Endpoint {
        let socket = try UDPSocket(
            on: loop, boundTo: Endpoint(loopback4, 0),
            reception: .packets { packet, from, _ in self.receive(packet, from: from) })
        self.socket = socket
        timer = loop.makeTimer { self.tick() }
        timer?.arm(at: loop.now)
        return socket.localEndpoint
    }

    private func receive(_ packet: PacketBuffer, from: Endpoint) {
        received += 1
        socket?.send(packet, to: from)
        loop.give(packet)
    }

    private func tick() {
        ticks += 1
        if ticks < 3 { timer?.arm(at: loop.now + .milliseconds(1)) }
    }

    func close() {
        socket?.close()
        timer = nil
    }
}

@Suite(.timeLimit(.minutes(1))) struct `Actor on a loop` {
    @Test func `is fed by sockets and timers without leaving its isolation`() async throws {
        try await withLoop { loop in
            let echo = Echo(loop)
            let inbox = Inbox<[UInt8]>()

            let endpoint = try await echo.open()
            let client = try await loop.run {
                let client = try UDPSocket(
                    on: loop, boundTo: Endpoint(loopback4, 0),
                    reception: .datagrams { bytes, _, _ in inbox.put(bytes) })
                for index in UInt8(0)..<20 { client.send([index], to: endpoint) }
                return client
            }

            #expect(try await inbox.wait(for: 20) == (UInt8(0)..<20).map { [$0] })
            #expect(await echo.received == 20)
            while await echo.ticks < 3 { await Task.yield() }
            await echo.close()
            _ = try await loop.run { client.close() }
        }
    }
}
