internal import CLinux
internal import Glibc
internal import OffhookBasics

/// Packets that go to one destination at once.
struct DatagramBurst: ~Copyable {
    /// What one call may carry: the kernel cuts at most 64 segments, within the 64 KiB of one datagram.
    private static let segmentLimit = 64
    private static let byteLimit = 65_000

    // The kernel reads through the packets' addresses, which last as long as the packets held here.
    private let packets: [PacketBuffer]
    private let datagrams: UnsafeMutableBufferPointer<clinux_datagram>

    init(_ packets: [PacketBuffer], to destination: Endpoint) {
        self.packets = packets
        datagrams = .allocate(capacity: packets.count)
        datagrams.initialize(repeating: clinux_datagram())
        let remote = clinux_endpoint(destination)
        for (index, packet) in packets.enumerated() {
            datagrams[index].remote = remote
            packet.bytes.withUnsafeBytes { bytes in
                datagrams[index].base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                datagrams[index].count = bytes.count
            }
        }
    }

    deinit {
        datagrams.deallocate()
    }

    /// Sends packets from an index on with one call; gives how many the kernel took, 0 where none.
    ///
    /// `segmented` turns false where the way out cannot cut bursts apart.
    func send(from start: Int, on descriptor: Int32, version: Int32, segmented: inout Bool) -> Int {
        guard let first = datagrams.baseAddress.map({ $0 + start }) else { return 0 }
        let run = segmented ? equalRun(from: start) : 1
        // A reported ICMP error of an earlier datagram makes a call fail once; see `UDPSocket`.
        for _ in 0..<3 {
            if run > 1 && segmented {
                if clinux_send_segmented(descriptor, version, first, UInt32(run), UInt16(first.pointee.count)) == 0 {
                    return run
                }
                if [EINVAL, EIO, EOPNOTSUPP, EMSGSIZE].contains(errno) { segmented = false }
            } else {
                let count = clinux_send(descriptor, version, first, UInt32(packets.count - start))
                if count > 0 { return Int(count) }
            }
            if errno == EAGAIN || errno == ENOBUFS || errno == EAFNOSUPPORT { return 0 }
        }
        return 0
    }

    /// How many packets from an index on are of one size, counting a shorter last one.
    private func equalRun(from start: Int) -> Int {
        let size = datagrams[start].count
        guard size > 0 else { return 1 }
        var count = 1
        while start + count < packets.count, count < Self.segmentLimit, (count + 1) * size <= Self.byteLimit {
            let next = datagrams[start + count].count
            guard next > 0, next <= size else { break }
            count += 1
            if next < size { break }
        }
        return count
    }
}
