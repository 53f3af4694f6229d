/// An IPv4 or IPv6 address.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is read as the IPv4 address it stands for.
public struct IPAddress: Hashable, Sendable {
    private enum Base: Hashable {
        case version4(UInt32)
        case version6(high: UInt64, low: UInt64, scope: UInt32)
    }

    private let base: Base

    /// The IPv4 address with this value, most significant byte first (`0x7F00_0001` is 127.0.0.1).
    public init(version4 value: UInt32) {
        base = .version4(value)
    }

    /// The IPv6 address with these halves; `scope` is the interface index of a link-local address.
    public init(version6High high: UInt64, low: UInt64, scope: UInt32 = 0) {
        if high == 0, low >> 32 == 0xFFFF {
            base = .version4(UInt32(truncatingIfNeeded: low))
        } else {
            base = .version6(high: high, low: low, scope: scope)
        }
    }

    /// Reads the textual form: dotted IPv4, or IPv6 by RFC 4291 §2.2, with or without square brackets.
    public init?(parsing text: some StringProtocol) {
        var bytes = Array(text.utf8)
        if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]"), bytes.count > 2 {
            bytes = Array(bytes[1..<bytes.count - 1])
            guard bytes.contains(UInt8(ascii: ":")) else { return nil }
        }
        if bytes.contains(UInt8(ascii: ":")) {
            guard let words = Self.words(parsing: bytes[...]) else { return nil }
            let high = words[0..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
            let low = words[4..<8].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
            self.init(version6High: high, low: low)
        } else {
            guard let value = Self.dotted(bytes[...]) else { return nil }
            self.init(version4: value)
        }
    }

    /// Whether this is an IPv4 address.
    public var isVersion4: Bool {
        if case .version4 = base { true } else { false }
    }

    /// The IPv4 value, most significant byte first; nil for IPv6.
    public var version4Value: UInt32? {
        if case .version4(let value) = base { value } else { nil }
    }

    /// The halves and the scope of an IPv6 address; an IPv4 address gives its mapped form.
    public var version6Value: (high: UInt64, low: UInt64, scope: UInt32) {
        switch base {
        case .version4(let value): (0, 0xFFFF_0000_0000 | UInt64(value), 0)
        case .version6(let high, let low, let scope): (high, low, scope)
        }
    }

    /// Whether this is `0.0.0.0` or `::`.
    public var isUnspecified: Bool {
        switch base {
        case .version4(let value): value == 0
        case .version6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// Whether this is in 127.0.0.0/8 or is `::1`.
    public var isLoopback: Bool {
        switch base {
        case .version4(let value): value >> 24 == 127
        case .version6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// Whether this is a multicast address.
    public var isMulticast: Bool {
        switch base {
        case .version4(let value): value >> 28 == 0xE
        case .version6(let high, _, _): high >> 56 == 0xFF
        }
    }

    private static func dotted(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let number = part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard number < 256 else { return nil }
            value = value << 8 | UInt32(number)
        }
        return value
    }

    private static func words(parsing bytes: ArraySlice<UInt8>) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        var gap: Int?
        var groups: [UInt16] = []
        var rest = bytes
        if rest.starts(with: [colon, colon]) {
            gap = 0
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != colon }
            let after = rest[group.endIndex...]
            if after.isEmpty, group.contains(UInt8(ascii: ".")) {
                guard let value = dotted(group) else { return nil }
                groups += [UInt16(value >> 16), UInt16(truncatingIfNeeded: value)]
                break
            }
            guard (1...4).contains(group.count), let value = hexadecimal(group) else { return nil }
            groups.append(value)
            if after.isEmpty { break }
            rest = after.dropFirst()
            if rest.first == colon {
                guard gap == nil else { return nil }
                gap = groups.count
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        guard let gap else { return groups.count == 8 ? groups : nil }
        guard groups.count < 8 else { return nil }
        groups.insert(contentsOf: [UInt16](repeating: 0, count: 8 - groups.count), at: gap)
        return groups
    }

    private static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> UInt16? {
        var value: UInt16 = 0
        for byte in bytes {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x41 + 10
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: return nil
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text: dotted IPv4, or IPv6 by RFC 5952, without brackets.
    public var description: String {
        switch base {
        case .version4(let value):
            return "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
        case .version6(let high, let low, _):
            let words = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> UInt64(48 - $0 % 4 * 16)) }
            var best = 0..<0
            var start = 0
            while start < 8 {
                let end = words[start...].firstIndex { $0 != 0 } ?? 8
                if end - start > 1, end - start > best.count { best = start..<end }
                start = max(end, start) + 1
            }
            let hex = { (part: ArraySlice<UInt16>) in
                part.map { String($0, radix: 16) }.joined(separator: ":")
            }
            return best.isEmpty
                ? hex(words[...]) : hex(words[..<best.lowerBound]) + "::" + hex(words[best.upperBound...])
        }
    }
}
