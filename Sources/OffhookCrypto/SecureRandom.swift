/// Random numbers for keys and seeds, from the kernel's generator.
package enum SecureRandom {
    /// A seed for the generators that protocol code is handed.
    package static func seed() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// Unpredictable bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
