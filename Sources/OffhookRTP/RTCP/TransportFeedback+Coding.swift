internal import OffhookBasics

extension TransportFeedback {
    /// Reads the content after the RTCP heading; nil where the lengths do not fit.
    init?(parsing body: RawSpan) {
        var reader = ByteReader(body)
        guard let sender = reader.readUInt32(), let media = reader.readUInt32(), let base = reader.readUInt16(),
            let count = reader.readUInt16(), let reference = reader.readUInt24(), let number = reader.readUInt8()
        else { return nil }
        var symbols: [UInt8] = []
        symbols.reserveCapacity(Int(count))
        while symbols.count < Int(count) {
            guard let chunk = reader.readUInt16() else { return nil }
            let room = Int(count) - symbols.count
            if chunk & 0x8000 == 0 {
                let symbol = UInt8(chunk >> 13 & 0x3)
                symbols.append(contentsOf: repeatElement(symbol, count: min(room, Int(chunk & 0x1FFF))))
                guard chunk & 0x1FFF > 0 else { return nil }
            } else if chunk & 0x4000 == 0 {
                for bit in 0..<min(14, room) { symbols.append(UInt8(chunk >> UInt16(13 - bit) & 1)) }
            } else {
                for pair in 0..<min(7, room) { symbols.append(UInt8(chunk >> UInt16(12 - 2 * pair) & 3)) }
            }
        }
        var arrivals: [Arrival] = []
        arrivals.reserveCapacity(symbols.count)
        for symbol in symbols {
            switch symbol {
            case 0: arrivals.append(.lost)
            case 1:
                guard let delta = reader.readUInt8() else { return nil }
                arrivals.append(.received(delta: Int16(delta)))
            case 2:
                guard let delta = reader.readUInt16() else { return nil }
                arrivals.append(.received(delta: Int16(bitPattern: delta)))
            default: return nil
            }
        }
        self.init(
            sender: SSRC(sender), media: SSRC(media), base: SequenceNumber(base),
            referenceTime: Int32(bitPattern: reference << 8) >> 8, feedbackCount: number, arrivals: arrivals)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(sender.rawValue)
        writer.write(media.rawValue)
        writer.write(base.rawValue)
        writer.write(UInt16(truncatingIfNeeded: arrivals.count))
        writer.writeUInt24(UInt32(bitPattern: referenceTime) & 0xFF_FFFF)
        writer.write(feedbackCount)
        let symbols = arrivals.map(\.symbol)
        var index = 0
        while index < symbols.count {
            let run = symbols[index...].prefix { $0 == symbols[index] }.prefix(0x1FFF).count
            if run >= 7 || index + run == symbols.count {
                writer.write(UInt16(symbols[index]) << 13 | UInt16(run))
                index += run
            } else {
                var chunk: UInt16 = 0xC000
                for (pair, symbol) in symbols[index...].prefix(7).enumerated() {
                    chunk |= UInt16(symbol) << UInt16(12 - 2 * pair)
                }
                writer.write(chunk)
                index += 7
            }
        }
        for case .received(let delta) in arrivals {
            if (0...255).contains(delta) {
                writer.write(UInt8(delta))
            } else {
                writer.write(UInt16(bitPattern: delta))
            }
        }
    }
}

extension TransportFeedback.Arrival {
    fileprivate var symbol: UInt8 {
        switch self {
        case .lost: 0
        case .received(let delta): (0...255).contains(delta) ? 1 : 2
        }
    }
}
