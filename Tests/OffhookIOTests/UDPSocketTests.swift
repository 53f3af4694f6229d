import Foundation
import OffhookBasics
import OffhookIO
import Testing

/// A datagram as a test saw it.
private struct Seen: Sendable, Equatable {
    var bytes: [UInt8]
    var from: Endpoint
    var to: IPAddress?
}

@Suite(.timeLimit(.minutes(1))) struct `UDP socket` {
    private func packets(
        _ loop: EventLoop, at endpoint: Endpoint = Endpoint(loopback4, 0), options: UDPSocket.Options = .init(),
        into inbox: Inbox<Seen> = Inbox()
    ) async throws -> UDPSocket {
        try await loop.run {
            try UDPSocket(
                on: loop, boundTo: endpoint, options: options,
                reception: .packets { packet, from, to in
                    inbox.put(Seen(bytes: Array(packet.bytes), from: from, to: to))
                    loop.give(packet)
                })
        }
    }

    private func datagrams(
        _ loop: EventLoop, at endpoint: Endpoint = Endpoint(loopback4, 0), options: UDPSocket.Options = .init(),
        into inbox: Inbox<Seen> = Inbox()
    ) async throws -> UDPSocket {
        try await loop.run {
            try UDPSocket(
                on: loop, boundTo: endpoint, options: options,
                reception: .datagrams { bytes, from, to in inbox.put(Seen(bytes: bytes, from: from, to: to)) })
        }
    }

    @Test(arguments: [loopback4, loopback6]) func `carries many datagrams in order`(address: IPAddress) async throws {
        try await withLoop { loop in
            let inbox = Inbox<Seen>()
            var options = UDPSocket.Options()
            options.receiveBufferSize = 1 << 20
            let receiver = try await packets(loop, at: Endpoint(address, 0), options: options, into: inbox)
            let sender = try await packets(loop, at: Endpoint(address, 0))
            let contents = (0..<200).map { [UInt8](repeating: UInt8($0), count: $0 * 9) }

            let outcomes = try await loop.run { contents.map { sender.send($0, to: receiver.localEndpoint) } }

            let seen = try await inbox.wait(for: contents.count)
            #expect(outcomes.allSatisfy { $0 == .sent })
            #expect(seen.map(\.bytes) == contents)
            #expect(seen.allSatisfy { $0.from == sender.localEndpoint && $0.to == nil })
            #expect(try await loop.run { receiver.counters.received } == contents.count)
            #expect(try await loop.run { sender.counters.sent } == contents.count)
        }
    }

    @Test(arguments: [true, false]) func `sends a burst of packets of equal and unequal sizes`(segments: Bool)
        async throws
    {
        try await withLoop { loop in
            let inbox = Inbox<Seen>()
            var options = UDPSocket.Options()
            options.receiveBufferSize = 1 << 20
            options.segmentsBursts = segments
            let receiver = try await packets(loop, options: options, into: inbox)
            let sender = try await packets(loop, options: options)
            let sizes = [Int](repeating: 1200, count: 70) + [700, 1200, 1200, 300, 0, 5, 6, 1, 1]
            let contents = sizes.enumerated().map { [UInt8](repeating: UInt8($0), count: $1) }

            let taken = try await loop.run {
                let packets = contents.map { content in
                    let packet = loop.takePacket()
                    packet.assign(content)
                    return packet
                }
                return sender.send(packets, to: receiver.localEndpoint)
            }

            #expect(taken == contents.count)
            #expect(try await inbox.wait(for: contents.count).map(\.bytes) == contents)
        }
    }

    @Test func `takes datagrams of 64 KiB where it was made for SIP`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Seen>()
            let receiver = try await datagrams(loop, into: inbox)
            let sender = try await datagrams(loop)
            let contents = [[UInt8](repeating: 7, count: 65_507), [], [UInt8](repeating: 8, count: 2049)]

            _ = try await loop.run { for content in contents { sender.send(content, to: receiver.localEndpoint) } }

            #expect(try await inbox.wait(for: 3).map(\.bytes) == contents)
        }
    }

    @Test func `drops and counts what is larger than a packet buffer`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Seen>()
            let receiver = try await packets(loop, into: inbox)
            let sender = try await packets(loop)

            _ = try await loop.run {
                sender.send([UInt8](repeating: 1, count: PacketBuffer.capacity + 1), to: receiver.localEndpoint)
                sender.send([UInt8](repeating: 2, count: PacketBuffer.capacity), to: receiver.localEndpoint)
            }

            #expect(try await inbox.wait(for: 1).map(\.bytes) == [[UInt8](repeating: 2, count: PacketBuffer.capacity)])
            #expect(try await loop.run { receiver.counters.oversized } == 1)
        }
    }

    @Test func `says that a datagram is too long to be sent at all`() async throws {
        try await withLoop { loop in
            let sender = try await datagrams(loop)

            let outcome = try await loop.run {
                sender.send([UInt8](repeating: 1, count: 70_000), to: sender.localEndpoint)
            }

            #expect(outcome == .failed(EMSGSIZE))
        }
    }

    @Test(arguments: [(any4, loopback4), (any6, loopback4), (any6, loopback6), (loopback6, loopback6)])
    func `tells who is not there`(bound: IPAddress, peer: IPAddress) async throws {
        try await withLoop { loop in
            let inbox = Inbox<(Endpoint?, IOError)>()
            let gone = try await packets(loop, at: Endpoint(peer, 0))
            let sender = try await packets(loop, at: Endpoint(bound, 0))

            _ = try await loop.run {
                gone.close()
                sender.errorHandler = { inbox.put(($0, $1)) }
                sender.send([1], to: gone.localEndpoint)
            }

            let (destination, error) = try await inbox.wait(for: 1)[0]
            #expect(destination == gone.localEndpoint)
            #expect(error.code == ECONNREFUSED)
            #expect(error.reason.contains("\(gone.localEndpoint)"))
        }
    }

    @Test func `reaches others right after one was not there`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Seen>()
            let errors = Inbox<Endpoint?>()
            let receiver = try await packets(loop, into: inbox)
            let gone = try await packets(loop)
            let sender = try await packets(loop)

            let outcomes = try await loop.run {
                gone.close()
                sender.errorHandler = { destination, _ in errors.put(destination) }
                return (UInt8(0)..<50).map { index in
                    sender.send([0], to: gone.localEndpoint)
                    return sender.send([index], to: receiver.localEndpoint)
                }
            }

            #expect(outcomes.allSatisfy { $0 == .sent })
            #expect(try await inbox.wait(for: 50).map(\.bytes) == (UInt8(0)..<50).map { [$0] })
            #expect(try await errors.wait(for: 1).allSatisfy { $0 == gone.localEndpoint })
        }
    }

    @Test func `sees IPv4 as IPv4 when bound to all of IPv6`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Seen>()
            var options = UDPSocket.Options()
            options.reportsLocalAddress = true
            let receiver = try await packets(loop, at: Endpoint(any6, 0), options: options, into: inbox)
            let sender4 = try await packets(loop)
            let sender6 = try await packets(loop, at: Endpoint(loopback6, 0))
            let answers = Inbox<Seen>()
            let asker = try await packets(loop, into: answers)

            _ = try await loop.run {
                sender4.send([4], to: Endpoint(loopback4, receiver.localEndpoint.port))
                sender6.send([6], to: Endpoint(loopback6, receiver.localEndpoint.port))
                receiver.send([9], to: asker.localEndpoint)
            }

            let seen = try await inbox.wait(for: 2)
            #expect(seen[0] == Seen(bytes: [4], from: sender4.localEndpoint, to: loopback4))
            #expect(seen[1] == Seen(bytes: [6], from: sender6.localEndpoint, to: loopback6))
            #expect(try await answers.wait(for: 1)[0].from == Endpoint(loopback4, receiver.localEndpoint.port))
        }
    }

    @Test(arguments: [any4, any6]) func `learns and picks its own address when bound to all`(bound: IPAddress)
        async throws
    {
        try await withLoop { loop in
            let second = IPAddress(version4: 0x7F00_0002)
            let inbox = Inbox<Seen>()
            let answers = Inbox<Seen>()
            var options = UDPSocket.Options()
            options.reportsLocalAddress = true
            let server = try await packets(loop, at: Endpoint(bound, 0), options: options, into: inbox)
            let client = try await packets(loop, into: answers)

            _ = try await loop.run { client.send([1], to: Endpoint(second, server.localEndpoint.port)) }
            let question = try await inbox.wait(for: 1)[0]
            _ = try await loop.run { server.send([2], to: question.from, from: question.to) }

            #expect(question.to == second)
            #expect(try await answers.wait(for: 1)[0].from == Endpoint(second, server.localEndpoint.port))
        }
    }

    @Test func `says which port is in use`() async throws {
        try await withLoop { loop in
            let first = try await packets(loop)

            let error = await #expect(throws: IOError.self) { _ = try await packets(loop, at: first.localEndpoint) }

            #expect(error?.code == EADDRINUSE)
            #expect(
                error?.reason
                    == "UDP port \(first.localEndpoint.port) on 127.0.0.1 is in use by another program; choose another port, or 0 for any free one."
            )
        }
    }

    @Test func `says that an address is not ours`() async throws {
        try await withLoop { loop in
            let error = await #expect(throws: IOError.self) {
                _ = try await packets(loop, at: Endpoint(IPAddress(version4: 0xC000_0201), 0))
            }

            #expect(error?.code == EADDRNOTAVAIL)
            #expect(error?.reason.contains("192.0.2.1 is not an address of this machine") == true)
        }
    }

    @Test func `finds the free ports of a range and says when there is none`() async throws {
        try await withLoop { loop in
            // A block of an address that other tests leave alone.
            let address = IPAddress(version4: 0x7F00_0163)
            let make = { @Sendable () throws(IOError) -> UDPSocket in
                try UDPSocket(
                    on: loop, boundTo: address, ports: 20_001...20_009, evenOnly: true,
                    reception: .packets { packet, _, _ in loop.give(packet) })
            }

            let (ports, error, again) = try await loop.run {
                let sockets = try (0..<4).map { _ in try make() }
                var error: IOError?
                do throws(IOError) { _ = try make() } catch let caught { error = caught }
                let third = sockets[2].localEndpoint.port
                sockets[2].close()
                return (sockets.map(\.localEndpoint.port), error, [third, try make().localEndpoint.port])
            }

            #expect(ports.sorted() == [20_002, 20_004, 20_006, 20_008])
            #expect(
                error?.reason
                    == "All UDP ports from 20001 to 20009 on 127.0.1.99 are in use; give a wider range of ports.")
            #expect(again[0] == again[1])
        }
    }

    @Test func `gives nothing to its handler after it was closed, even inside a burst`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<[UInt8]>()
            let sender = try await packets(loop)
            let closing = try await loop.run { try ClosingReceiver(loop, inbox: inbox) }

            _ = try await loop.run {
                for index in 0..<10 { sender.send([UInt8(index)], to: closing.endpoint) }
            }
            _ = try await inbox.wait(for: 3)
            _ = try await loop.run {}
            _ = try await loop.run {}

            #expect(inbox.all == [[0], [1], [2]])
        }
    }

    /// Closes its socket from inside the handler of the third packet.
    private final class ClosingReceiver: @unchecked Sendable {
        private var socket: UDPSocket?
        private var count = 0
        let endpoint: Endpoint

        init(_ loop: EventLoop, inbox: Inbox<[UInt8]>) throws {
            let box = Box()
            let socket = try UDPSocket(
                on: loop, boundTo: Endpoint(loopback4, 0),
                reception: .packets { packet, _, _ in
                    inbox.put(Array(packet.bytes))
                    box.count += 1
                    if box.count == 3 { box.socket?.close() }
                })
            box.socket = socket
            self.socket = socket
            endpoint = socket.localEndpoint
        }

        private final class Box {
            var socket: UDPSocket?
            var count = 0
        }
    }

    @Test func `drops and counts what the kernel has no room for`() async throws {
        try await withLoop { loop in
            var options = UDPSocket.Options()
            options.sendBufferSize = 4608
            options.codePoint = 46
            let sender = try await packets(loop, at: Endpoint(any4, 0), options: options)
            let sink = try await packets(loop)

            // Loopback delivers at once, so this only shows that both options are taken and sending works with them.
            let outcome = try await loop.run { sender.send([1, 2, 3], to: sink.localEndpoint) }

            #expect(outcome == .sent)
        }
    }

    @Test func `fails to send to the other version of IP`() async throws {
        try await withLoop { loop in
            let sender = try await packets(loop)

            let outcome = try await loop.run { sender.send([1], to: Endpoint(loopback6, 9)) }

            #expect(outcome == .failed(EAFNOSUPPORT))
        }
    }
}
