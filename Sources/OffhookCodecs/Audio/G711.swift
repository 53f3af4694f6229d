internal import OffhookBasics

/// G.711: 8 kHz sound in eight bits a sample, on one of two logarithmic scales.
package enum G711: Hashable, Sendable {
    /// North America and Japan, PCMU.
    case muLaw
    /// Elsewhere, PCMA.
    case aLaw

    /// Encodes 8 kHz mono samples, a byte each.
    package func encode(_ samples: [Int16]) -> [UInt8] {
        self == .muLaw ? samples.map(Self.encodeMuLaw) : samples.map(Self.encodeALaw)
    }

    /// Decodes a payload to 8 kHz mono samples; every byte is valid.
    package func decode(_ payload: RawSpan) -> [Int16] {
        let table = self == .muLaw ? Self.muLawTable : Self.aLawTable
        return [Int16](unsafeUninitializedCapacity: payload.byteCount) { samples, count in
            for index in 0..<payload.byteCount { samples[index] = table[Int(payload.loadByte(at: index))] }
            count = payload.byteCount
        }
    }

    private static let muLawTable = (0...255).map { decodeMuLaw(UInt8($0)) }
    private static let aLawTable = (0...255).map { decodeALaw(UInt8($0)) }

    private static func encodeMuLaw(_ sample: Int16) -> UInt8 {
        let magnitude = min(Int(sample.magnitude), 32635) + 132
        // The bias of 132 puts the highest set bit at position 7 or above; it tells the segment.
        let segment = Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
        let code = UInt8(segment << 4 | magnitude >> (segment + 3) & 15)
        return ~(sample < 0 ? code | 0x80 : code)
    }

    private static func decodeMuLaw(_ byte: UInt8) -> Int16 {
        let code = ~byte
        let segment = Int(code >> 4 & 7)
        let magnitude = ((Int(code & 15) << 3 + 132) << segment) - 132
        return Int16(code & 0x80 != 0 ? -magnitude : magnitude)
    }

    private static func encodeALaw(_ sample: Int16) -> UInt8 {
        // Negative values are one's complement, so that -1 mirrors 0.
        let magnitude = Int(sample < 0 ? ~sample : sample) >> 3
        let segment = max(Int.bitWidth - 1 - (magnitude | 1).leadingZeroBitCount - 4, 0)
        let code = UInt8(segment << 4 | (segment < 2 ? magnitude >> 1 : magnitude >> segment) & 15)
        return (sample < 0 ? code : code | 0x80) ^ 0x55
    }

    private static func decodeALaw(_ byte: UInt8) -> Int16 {
        let code = byte ^ 0x55
        let segment = Int(code >> 4 & 7)
        var magnitude = Int(code & 15) << 4 + 8
        if segment > 0 { magnitude = (magnitude + 256) << (segment - 1) }
        return Int16(code & 0x80 != 0 ? magnitude : -magnitude)
    }
}
