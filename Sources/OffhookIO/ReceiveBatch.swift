internal import CLinux
internal import OffhookBasics

/// Where an event loop's sockets receive datagrams: packet buffers for media, large room for SIP, shared by all sockets
/// of the loop since only one reads at a time.
struct ReceiveBatch: ~Copyable {
    static let packetCount = 32
    static let largeCount = 4
    static let largeSize = 65_536

    // Fixed addresses that the kernel writes to; each slot's `base` points into the buffer of the same index, whose
    // storage lives as long as the buffer does.
    private let slots: UnsafeMutablePointer<clinux_datagram>
    private var large: UnsafeMutableRawPointer?
    private var buffers: [PacketBuffer] = []

    init() {
        slots = .allocate(capacity: Self.packetCount)
        slots.initialize(repeating: clinux_datagram(), count: Self.packetCount)
    }

    deinit {
        slots.deallocate()
        large?.deallocate()
    }

    /// Receives up to `limit` packets; gives how many, or -1 with `errno` set.
    mutating func receivePackets(_ descriptor: Int32, limit: Int, pool: inout PacketPool) -> Int {
        let limit = min(limit, Self.packetCount)
        while buffers.count < limit { buffers.append(pool.take()) }
        for index in 0..<limit {
            buffers[index].withWholeBuffer { room in
                slots[index].base = room.baseAddress
                slots[index].count = room.count
                return 0
            }
        }
        return Int(clinux_receive(descriptor, slots, UInt32(limit)))
    }

    /// The packet in a slot, whose place a fresh one takes; nil where it was larger than a buffer.
    mutating func takePacket(_ index: Int, pool: inout PacketPool) -> PacketBuffer? {
        guard slots[index].truncated == 0 else { return nil }
        let packet = buffers[index]
        packet.count = slots[index].count
        buffers[index] = pool.take()
        return packet
    }

    /// Receives a few datagrams of any size; gives how many, or -1 with `errno` set.
    mutating func receiveLarge(_ descriptor: Int32) -> Int {
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
