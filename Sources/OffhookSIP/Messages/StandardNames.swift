/// Finds the standard name that a spelling stands for, in constant time and without making strings.
enum StandardNames {
    private struct Table: Sendable {
        /// Positions in `spellings`, 255 where there is none; searched from a spelling's hash onwards.
        var slots = [UInt8](repeating: 255, count: 512)
        var spellings: [[UInt8]] = []
        var names: [SIPHeaderName] = []

        init() {
            for standard in SIPHeaderName.Standard.allCases {
                insert(standard.rawValue, SIPHeaderName(standard: standard))
                if let compact = standard.compactForm {
                    insert(String(compact), SIPHeaderName(standard: standard))
                }
            }
        }

        private mutating func insert(_ text: String, _ name: SIPHeaderName) {
            let spelling = text.utf8.map(\.lowercased)
            var slot = StandardNames.hash(spelling.span, 0..<spelling.count)
            while slots[slot] != 255 { slot = (slot + 1) & 511 }
            slots[slot] = UInt8(spellings.count)
            spellings.append(spelling)
            names.append(name)
        }
    }

    private static let table = Table()

    static func name(for text: String) -> SIPHeaderName {
        let bytes = text.utf8.span
        return name(for: bytes, 0..<bytes.count) ?? SIPHeaderName(other: text)
    }

    static func name(for bytes: Span<UInt8>, _ range: Range<Int>) -> SIPHeaderName? {
        var slot = hash(bytes, range)
        while table.slots[slot] != 255 {
            let index = Int(table.slots[slot])
            if isEqual(table.spellings[index], bytes, range) { return table.names[index] }
            slot = (slot + 1) & 511
        }
        return nil
    }

    private static func isEqual(_ spelling: [UInt8], _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard spelling.count == range.count else { return false }
        for index in 0..<spelling.count where spelling[index] != bytes[range.lowerBound + index].lowercased {
            return false
        }
        return true
    }

    private static func hash(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var value: UInt32 = 2_166_136_261
        for index in range { value = (value ^ UInt32(bytes[index].lowercased)) &* 16_777_619 }
        return Int((value ^ value >> 15) & 511)
    }
}
