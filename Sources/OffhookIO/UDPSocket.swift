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

    /// Binds to an address and port; port 0 takes any free one, and `::` takes IPv4 too (seen as IPv4).
    package init(
        on loop: EventLoop, boundTo endpoint: Endpoint, options: Options = Options(), reception: Reception
    ) throws(IOError) {
        throw IOError(.configuration, reason: "UDP is not there yet.")
    }

    /// Binds to the first free port of a range; `evenOnly` skips odd ones, as RTP with RTCP on the port above wants.
    package convenience init(
        on loop: EventLoop, boundTo address: IPAddress, ports: ClosedRange<UInt16>, evenOnly: Bool = false,
        options: Options = Options(), reception: Reception
    ) throws(IOError) {
        throw IOError(.configuration, reason: "UDP is not there yet.")
    }

    @discardableResult
    package func send(_ packet: PacketBuffer, to destination: Endpoint, from source: IPAddress? = nil) -> SendOutcome {
        .dropped
    }

    @discardableResult
    package func send(_ bytes: [UInt8], to destination: Endpoint, from source: IPAddress? = nil) -> SendOutcome {
        .dropped
    }

    /// Sends many packets to one destination with few system calls; gives how many the kernel took.
    @discardableResult
    package func send(_ packets: [PacketBuffer], to destination: Endpoint) -> Int {
        0
    }

    /// Closes the descriptor; no handler is called any more. Doing it twice is harmless.
    package func close() {}
}
