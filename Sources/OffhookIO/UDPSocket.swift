internal import CLinux
internal import Glibc
package import OffhookBasics

/// A UDP socket on an event loop.
///
/// It belongs to the loop's thread: every call is made there and every handler is called there.
package final class UDPSocket: @unchecked Sendable {
    package struct Options: Sendable {
        /// Bytes the kernel may hold for us; nil leaves the system's choice.
        package var receiveBufferSize: Int?
        /// Bytes the kernel may hold on the way out; nil leaves the system's choice.
        package var sendBufferSize: Int?
        /// The differentiated-services code point of what is sent (46 for voice), RFC 4594.
        package var codePoint: UInt8 = 0
        /// Whether handlers learn which of our addresses a datagram came to; for sockets bound to every address.
        package var reportsLocalAddress = false
        /// Whether bursts of equal packets go to the kernel as one, which then cuts them apart (`UDP_SEGMENT`).
        package var segmentsBursts = true

        package init() {}
    }

    /// How datagrams are handed over.
    package enum Reception {
        /// In buffers of the loop's pool, which the handler owns and gives back with ``EventLoop/give(_:)``; larger
        /// datagrams than a buffer holds are dropped and counted. For media.
        case packets((_ packet: PacketBuffer, _ from: Endpoint, _ to: IPAddress?) -> Void)
        /// In arrays, up to the 64 KiB a datagram can have. For SIP.
        case datagrams((_ bytes: [UInt8], _ from: Endpoint, _ to: IPAddress?) -> Void)
    }

    /// What became of a datagram that was to be sent.
    package enum SendOutcome: Hashable, Sendable {
        case sent
        /// The kernel's buffer is full; the datagram was dropped and counted.
        case dropped
        /// It cannot be sent at all: too long, no route, a forbidden destination. Holds the `errno`.
        case failed(Int32)
    }

    package struct Counters: Hashable, Sendable {
        package var received = 0
        package var sent = 0
        /// Datagrams we dropped since the kernel took no more.
        package var dropped = 0
        /// Datagrams that were larger than a packet buffer.
        package var oversized = 0
    }

    /// The address and port that the socket is bound to.
    package let localEndpoint: Endpoint
    package private(set) var counters = Counters()

    /// Called when an ICMP message says that a datagram did not arrive: where it was sent, where that is known, and why.
    package var errorHandler: ((_ destination: Endpoint?, _ error: IOError) -> Void)?

    // Everything below is the loop thread's alone. `reception` is nil once closed; a simulated socket has no descriptor.
    private let loop: EventLoop
    private var descriptor: Int32?
    private var source: SourceID?
    private var reception: Reception?
    private let version: Int32
    private var segmentsBursts: Bool

    /// Binds to an address and port; port 0 takes any free one, and `::` takes IPv4 too (seen as IPv4).
    package init(
        on loop: EventLoop, boundTo endpoint: Endpoint, options: Options = Options(), reception: Reception
    ) throws(IOError) {
        loop.assertOnLoop()
        if let kernel = loop.kernel {
            localEndpoint = try kernel.freeEndpoint(for: endpoint)
            self.loop = loop
            self.reception = reception
            version = endpoint.address.socketVersion
            segmentsBursts = false
            kernel.bind(self, to: localEndpoint)
            return
        }
        let descriptor = try Self.open(boundTo: endpoint, options: options)
        var local = clinux_endpoint()
        guard clinux_local(descriptor, &local) == 0, let localEndpoint = local.endpoint else {
            let code = errno
            Glibc.close(descriptor)
            throw IOError(errno: code, doing: "learn a socket's port")
        }
        self.loop = loop
        self.localEndpoint = localEndpoint
        self.descriptor = descriptor
        self.reception = reception
        version = endpoint.address.socketVersion
        segmentsBursts = options.segmentsBursts
        do {
            source = try loop.add(self, descriptor: descriptor, interest: .read)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Binds to a free port of a range; `evenOnly` skips odd ones, as RTP with RTCP on the port above wants.
    ///
    /// Searches on from where the last search on this loop ended, so that a port is not used again at once.
    package convenience init(
        on loop: EventLoop, boundTo address: IPAddress, ports: ClosedRange<UInt16>, evenOnly: Bool = false,
        options: Options = Options(), reception: Reception
    ) throws(IOError) {
        let step = evenOnly ? 2 : 1
        let first = Int(ports.lowerBound) + (evenOnly ? Int(ports.lowerBound) % 2 : 0)
        let candidates = Array(stride(from: first, through: Int(ports.upperBound), by: step))
        for _ in candidates {
            let port = UInt16(candidates[loop.nextPortTurn() % candidates.count])
            do {
                try self.init(on: loop, boundTo: Endpoint(address, port), options: options, reception: reception)
                return
            } catch  where error.code == EADDRINUSE || error.code == EACCES {
                continue
            }
        }
        throw IOError(
            .system, code: EADDRINUSE,
            reason:
                "All UDP ports from \(ports.lowerBound) to \(ports.upperBound) on \(address) are in use; give a wider range of ports."
        )
    }

    private static func open(boundTo endpoint: Endpoint, options: Options) throws(IOError) -> Int32 {
        let version = endpoint.address.socketVersion
        let descriptor = clinux_socket(version, 0, endpoint.address.isUnspecified ? 1 : 0)
        guard descriptor >= 0 else { throw IOError(errno: errno, binding: endpoint, as: "UDP") }
        var address = clinux_endpoint(endpoint)
        guard
            clinux_set_datagram_options(
                descriptor, version, options.reportsLocalAddress ? 1 : 0, Int32(options.codePoint & 63)) == 0,
            clinux_set_buffer_sizes(
                descriptor, Int32(clamping: options.receiveBufferSize ?? 0),
                Int32(clamping: options.sendBufferSize ?? 0)) == 0,
            clinux_bind(descriptor, version, &address) == 0
        else {
            let code = errno
            Glibc.close(descriptor)
            throw IOError(errno: code, binding: endpoint, as: "UDP")
        }
        return descriptor
    }

    /// Sends a packet, which stays the caller's; `from` picks the address it leaves from on a socket bound to every one.
    @discardableResult
    package func send(_ packet: PacketBuffer, to destination: Endpoint, from source: IPAddress? = nil) -> SendOutcome {
        packet.bytes.withUnsafeBytes { send($0, to: destination, from: source) }
    }

    @discardableResult
    package func send(_ bytes: [UInt8], to destination: Endpoint, from source: IPAddress? = nil) -> SendOutcome {
        bytes.withUnsafeBytes { send($0, to: destination, from: source) }
    }

    /// Sends many packets to one destination with few system calls; gives how many the kernel took.
    ///
    /// Those after the first that it does not take are dropped and counted.
    @discardableResult
    package func send(_ packets: [PacketBuffer], to destination: Endpoint) -> Int {
        loop.assertOnLoop()
        if loop.kernel != nil { return packets.count { send($0, to: destination) == .sent } }
        guard let descriptor else { return 0 }
        let burst = DatagramBurst(packets, to: destination)
        var start = 0
        while start < packets.count {
            let taken = burst.send(
                from: start, on: descriptor, version: version, segmented: &segmentsBursts)
            guard taken > 0 else { break }
            start += taken
        }
        counters.sent += start
        counters.dropped += packets.count - start
        return start
    }

    private func send(_ bytes: UnsafeRawBufferPointer, to destination: Endpoint, from source: IPAddress?) -> SendOutcome
    {
        loop.assertOnLoop()
        if let kernel = loop.kernel, reception != nil {
            counters.sent += 1
            kernel.transmit?(Array(bytes), Endpoint(source ?? localEndpoint.address, localEndpoint.port), destination)
            return .sent
        }
        guard let descriptor else { return .failed(EBADF) }
        var datagram = clinux_datagram()
        // The kernel only reads what is sent.
        datagram.base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        datagram.count = bytes.count
        datagram.remote = clinux_endpoint(destination)
        datagram.local = clinux_endpoint(source)
        let code = Self.retryingPastReportedErrors { clinux_send(descriptor, version, &datagram, 1) }
        switch code {
        case 0:
            counters.sent += 1
            return .sent
        case EAGAIN, ENOBUFS:
            counters.dropped += 1
            return .dropped
        default:
            return .failed(code)
        }
    }

    /// The `errno` of a send, or 0.
    ///
    /// An ICMP error of an earlier datagram makes the next call fail once, whatever its own destination; that error is
    /// in the socket's error queue too, from where the loop reports it.
    private static func retryingPastReportedErrors(_ call: () -> Int32) -> Int32 {
        var code: Int32 = 0
        for _ in 0..<3 {
            if call() >= 0 { return 0 }
            code = errno
            if code == EAGAIN || code == ENOBUFS || code == EMSGSIZE || code == EAFNOSUPPORT { break }
        }
        return code
    }

    /// Closes the descriptor; no handler is called any more. Doing it twice is harmless.
    package func close() {
        loop.assertOnLoop()
        guard reception != nil else { return }
        loop.kernel?.release(localEndpoint)
        if let source, let descriptor { loop.remove(source, descriptor: descriptor) }
        loopDidEnd()
    }

    /// Takes a datagram that came by a simulated network.
    func receive(_ bytes: [UInt8], from remote: Endpoint) {
        counters.received += 1
        switch reception {
        case .packets(let handler):
            guard bytes.count <= PacketBuffer.capacity else {
                counters.oversized += 1
                return
            }
            let packet = loop.takePacket()
            packet.assign(bytes)
            handler(packet, remote, localEndpoint.address)
        case .datagrams(let handler):
            handler(bytes, remote, localEndpoint.address)
        case nil:
            break
        }
    }

    private func receivePackets(_ handler: (PacketBuffer, Endpoint, IPAddress?) -> Void) {
        let (loop, batch) = (loop, loop.batch)
        // A sparse socket has one packet waiting: a small first read spares setting up a large one.
        for limit in [4, ReceiveBatch.packetCount - 4] {
            guard let descriptor else { return }
            let count = batch.receivePackets(descriptor, limit: limit)
            counters.received += max(0, count)
            for index in 0..<max(0, count) {
                guard self.descriptor != nil, let from = batch.remote(index) else { return }
                let to = batch.local(index)
                guard let packet = batch.takePacket(index, replacement: loop.takePacket) else {
                    counters.oversized += 1
                    continue
                }
                handler(packet, from, to)
            }
            guard count == limit else { return }
        }
    }

    private func receiveDatagrams(_ handler: ([UInt8], Endpoint, IPAddress?) -> Void) {
        guard let descriptor else { return }
        let batch = loop.batch
        let count = batch.receiveLarge(descriptor)
        counters.received += max(0, count)
        for index in 0..<max(0, count) {
            guard self.descriptor != nil, let from = batch.remote(index) else { return }
            handler(batch.largeBytes(index), from, batch.local(index))
        }
    }

    private func reportErrors() {
        var error = clinux_datagram_error()
        for _ in 0..<32 {
            guard let descriptor, clinux_receive_error(descriptor, &error) == 0 else { return }
            let destination = error.destination.endpoint
            errorHandler?(destination, IOError(errno: error.code, reaching: destination))
        }
    }
}

extension UDPSocket: LoopSource {
    func loopDidSignal(_ events: Interest) {
        if events.contains(.error) { reportErrors() }
        guard events.contains(.read) || events.contains(.error) else { return }
        switch reception {
        case .packets(let handler): receivePackets(handler)
        case .datagrams(let handler): receiveDatagrams(handler)
        case nil: break
        }
    }

    func loopDidEnd() {
        if let descriptor { Glibc.close(descriptor) }
        descriptor = nil
        source = nil
        reception = nil
        errorHandler = nil
    }
}
