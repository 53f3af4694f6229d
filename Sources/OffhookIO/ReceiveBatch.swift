internal import CLinux
internal import OffhookBasics

/// Where an event loop's sockets receive datagrams: packet buffers for media, large room for SIP, shared by all sockets
/// of the loop since only one reads at a time.
///
/// It holds pointers and not arrays, which a class would check for exclusive access several times a packet.
final class ReceiveBatch {
    static let packetCount = 32
    static let largeCount = 4
    static let largeSize = 65_536

    // Fixed addresses that the kernel writes to. Each `base` points into the buffer of
    // the same index, whose storage lives as long as the buffer does.
    private let slots: UnsafeMutablePointer<clinux_datagram>
    private let buffers: UnsafeMutablePointer<PacketBuffer>
    private var large: UnsafeMutableRawPointer?

    init() {
        slots = .allocate(capacity: Self.packetCount)
        slots.initialize(repeating: clinux_datagram(), count: Self.packetCount)
        buffers = .allocate(capacity: Self.packetCount)
        for index in 0..<Self.packetCount { (buffers + index).initialize(to: PacketBuffer()) }
    }

    deinit {
        slots.deallocate()
        buffers.deinitialize(count: Self.packetCount)
        buffers.deallocate()
        large?.deallocate()
    }

    /// Receives up to `limit` packets; gives how many, or -1 with `errno` set.
    func receivePackets(_ descriptor: Int32, limit: Int) -> Int {
        let limit = min(limit, Self.packetCount)
        for index in 0..<limit {
            buffers[index].withWholeBuffer { room in
                slots[index].base = room.baseAddress
                slots[index].count = room.count
                return 0
            }
        }
        return Int(clinux_receive(descriptor, slots, UInt32(limit)))
    }

    /// The packet in a slot, whose place an empty one takes; nil where it was larger than a buffer.
    func takePacket(_ index: Int, replacement: () -> PacketBuffer) -> PacketBuffer? {
        guard slots[index].truncated == 0 else { return nil }
        let packet = buffers[index]
        packet.count = slots[index].count
        buffers[index] = replacement()
        return packet
    }

    /// Receives a few datagrams of any size; gives how many, or -1 with `errno` set.
    func receiveLarge(_ descriptor: Int32) -> Int {
        let room = large ?? .allocate(byteCount: Self.largeSize * Self.largeCount, alignment: 16)
        large = room
        for index in 0..<Self.largeCount {
            slots[index].base = room + index * Self.largeSize
            slots[index].count = Self.largeSize
        }
        return Int(clinux_receive(descriptor, slots, UInt32(Self.largeCount)))
    }

    func largeBytes(_ index: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: slots[index].base, count: slots[index].count))
    }

    func remote(_ index: Int) -> Endpoint? {
        slots[index].remote.endpoint
    }

    func local(_ index: Int) -> IPAddress? {
        slots[index].local.address
    }
}
