import OffhookCodecs
import Testing

@Suite struct `G711 codec` {
    // ITU-T G.711 tables 1a to 2b; decoded values on the usual 16-bit scale.
    @Test(
        arguments: [
            (G711.muLaw, 0xFF, 0), (.muLaw, 0x7F, 0), (.muLaw, 0x80, 32124), (.muLaw, 0x00, -32124), (.muLaw, 0xFE, 8),
            (.muLaw, 0x7E, -8), (.muLaw, 0xEF, 132), (.muLaw, 0x8F, 16764), (.muLaw, 0xBF, 1980), (.muLaw, 0xC0, 1884),
            (.aLaw, 0xD5, 8), (.aLaw, 0x55, -8), (.aLaw, 0xAA, 32256), (.aLaw, 0x2A, -32256), (.aLaw, 0xD4, 24),
            (.aLaw, 0x54, -24), (.aLaw, 0xC5, 264), (.aLaw, 0xA5, 16896), (.aLaw, 0x80, 5504),
        ] as [(G711, UInt8, Int16)]) func `decodes by the tables`(_ law: G711, _ code: UInt8, _ value: Int16)
    {
        #expect(law.decode(bytes: [code]) == [value])
    }

    @Test(
        arguments: [
            (G711.muLaw, 0, 0xFF), (.muLaw, -1, 0x7F), (.muLaw, .max, 0x80), (.muLaw, .min, 0x00), (.muLaw, 1000, 0xCE),
            (.aLaw, 0, 0xD5), (.aLaw, -1, 0x55), (.aLaw, .max, 0xAA), (.aLaw, .min, 0x2A), (.aLaw, 1000, 0xFA),
        ] as [(G711, Int16, UInt8)]) func `encodes by the tables`(_ law: G711, _ value: Int16, _ code: UInt8)
    {
        #expect(law.encode([value]) == [code])
    }

    @Test(arguments: [G711.muLaw, .aLaw]) func `reads back every code, and encodes every sample to the nearest`(
        _ law: G711
    ) {
        let codes = (UInt8.min...UInt8.max).map { $0 }
        let values = law.decode(bytes: codes)
        // µ-law has two codes for 0.
        let again = law.decode(bytes: law.encode(values))
        #expect(again == values)

        for sample in stride(from: Int(Int16.min), through: Int(Int16.max), by: 7) {
            let decoded = Int(law.decode(bytes: law.encode([Int16(sample)]))[0])
            #expect(abs(decoded - sample) <= max(abs(sample) / 16, 20) || abs(sample) > 32000)
        }
    }

    @Test func `fills a gap with the voice that was there, then fades`() {
        var concealment = PacketLossConcealment()
        let sound = tone(200, rate: 8000, count: 1600)
        _ = concealment.accept(sound)

        let gap = concealment.conceal(sampleCount: 160)
        let expected = tone(200, rate: 8000, count: 160, from: 1600)
        #expect(likeness(gap[..<80], expected[..<80]) > 0.98)
        #expect(abs(Int(gap[0]) - Int(sound[1599])) < 2500)
        #expect(power(of: concealment.conceal(sampleCount: 320).suffix(80)) < power(of: gap) / 4)
        #expect(concealment.conceal(sampleCount: 160).suffix(100).allSatisfy { $0 == 0 })
        // What comes next starts where the silence ended.
        let next = concealment.accept(tone(200, rate: 8000, count: 160, from: 2240 + 10))
        #expect(abs(Int(next[0])) < 1000)
        #expect(Array(next[80...]) == Array(tone(200, rate: 8000, count: 160, from: 2250)[80...]))
    }

    @Test func `has silence to offer where nothing was heard yet`() {
        var concealment = PacketLossConcealment()
        #expect(concealment.conceal(sampleCount: 160) == [Int16](repeating: 0, count: 160))
    }
}

extension G711 {
    fileprivate func decode(bytes: [UInt8]) -> [Int16] { decode(bytes.span.bytes) }
}
