import OffhookBasics
import Testing

@Suite struct `Ground types` {
    @Test func `instants saturate instead of overflowing`() {
        #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
        #expect(Instant.zero + .seconds(Int64.max) == .distantFuture)
        #expect((Instant.zero + .milliseconds(5)) - .zero == .milliseconds(5))
    }

    @Test func `a reader never passes the end`() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5]
        var reader = ByteReader(bytes.span.bytes)

        // Read first, expect afterwards: the macro cannot hold a value that may not escape.
        let first = reader.readUInt16()
        let tooMuch = reader.readUInt32()
        let second = reader.readUInt24()
        let nothing = reader.readUInt8()
        let couldSkip = reader.skip(1)
        let remaining = reader.remaining

        #expect(first == 0x0102)
        #expect(tooMuch == nil)
        #expect(second == 0x030405)
        #expect(nothing == nil)
        #expect(!couldSkip)
        #expect(remaining == 0)
    }

    @Test func `a writer's numbers read back`() {
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(UInt16(0x0203))
        writer.writeUInt24(0x040506)
        writer.write(UInt64(0x0708_090A_0B0C_0D0E))

        #expect(writer.bytes == Array(1...14))
    }

    @Test func `equal seeds give equal numbers`() {
        var one = SeededRandom(seed: 7)
        var other = SeededRandom(seed: 7)

        #expect(one.token(length: 12) == other.token(length: 12))
        #expect(one.next() == other.next())
    }

    @Test func `a packet buffer comes back from its pool empty`() {
        var pool = PacketPool()
        let buffer = pool.take()
        buffer.append(7)
        buffer.appendBigEndian(UInt16(0x0809))
        #expect(buffer.count == 3)
        #expect(buffer[1] == 8)
        pool.give(buffer)

        #expect(pool.take().count == 0)
    }
}
