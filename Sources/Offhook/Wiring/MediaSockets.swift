internal import OffhookBasics
internal import OffhookEngine
internal import OffhookIO

/// The sockets of media lines: pairs for RTP and RTCP, opened ahead of need.
///
/// It belongs to the loop's thread.
final class MediaSockets {
    private let loop: EventLoop
    private let bindAddress: IPAddress
    private let range: ClosedRange<UInt16>?
    private let receive: (PacketBuffer, MediaSocketID, Endpoint) -> Void
    private var sockets: [MediaSocketID: UDPSocket] = [:]
    private var lastNumber: UInt64 = 0

    init(
        loop: EventLoop, bindAddress: IPAddress, range: ClosedRange<UInt16>?,
        receive: @escaping (PacketBuffer, MediaSocketID, Endpoint) -> Void
    ) {
        self.loop = loop
        self.bindAddress = bindAddress
        self.range = range
        self.receive = receive
    }

    /// Opens a pair: RTP on an even port, RTCP on the one above where that is free (RFC 3550 §11), elsewhere if not.
    func open() throws(IOError) -> MediaPorts {
        let rtpID = nextID()
        let rtcpID = nextID()
        var last: IOError?
        // The pair may be half taken by somebody else: another one is tried.
        for _ in 0..<8 {
            do throws(IOError) {
                let rtp = try socket(rtpID, port: nil)
                let above = rtp.localEndpoint.port.addingReportingOverflow(1)
                let isInRange = !above.overflow && range?.contains(above.partialValue) != false
                guard isInRange, let rtcp = try? socket(rtcpID, port: above.partialValue) else {
                    rtp.close()
                    continue
                }
                sockets[rtpID] = rtp
                sockets[rtcpID] = rtcp
                return MediaPorts(
                    rtp: rtpID, rtpPort: rtp.localEndpoint.port, rtcp: rtcpID, rtcpPort: rtcp.localEndpoint.port)
            } catch {
                last = error
                break
            }
        }
        throw last
            ?? IOError(
                .configuration, reason: "No two neighbouring media ports are free: widen the range of media ports.")
    }

    private func nextID() -> MediaSocketID {
        lastNumber += 1
        return MediaSocketID(number: lastNumber)
    }

    private func socket(_ id: MediaSocketID, port: UInt16?) throws(IOError) -> UDPSocket {
        var options = UDPSocket.Options()
        // A key frame of 720p is a burst of some hundred kilobytes.
        options.receiveBufferSize = 1 << 20
        options.sendBufferSize = 1 << 20
        let reception = UDPSocket.Reception.packets { [unowned self] packet, source, _ in
            self.receive(packet, id, source)
        }
        if let port {
            return try UDPSocket(on: loop, boundTo: Endpoint(bindAddress, port), options: options, reception: reception)
        }
        return try UDPSocket(
            on: loop, boundTo: bindAddress, ports: range ?? 16384...65534, evenOnly: true, options: options,
            reception: reception)
    }

    func send(_ packet: PacketBuffer, from socket: MediaSocketID, to destination: Endpoint) {
        sockets[socket]?.send(packet, to: destination)
    }

    func close(_ ports: MediaPorts) {
        sockets.removeValue(forKey: ports.rtp)?.close()
        sockets.removeValue(forKey: ports.rtcp)?.close()
    }

    func closeAll() {
        for socket in sockets.values { socket.close() }
        sockets = [:]
    }
}
