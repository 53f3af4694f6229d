/// Text that others have written, made fit for a terminal.
enum Printable {
    /// The text with what a terminal would obey, or what turns the order of letters, shown as escapes.
    ///
    /// - Parameter keepsLines: leaves the ends of lines as they are.
    static func text(_ text: String, keepsLines: Bool = false) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isHarmful(scalar), !(keepsLines && scalar == "\n") {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Control characters, the ends of lines and paragraphs, and the marks that turn the direction of writing.
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
