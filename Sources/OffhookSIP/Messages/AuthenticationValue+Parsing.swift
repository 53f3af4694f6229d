extension AuthenticationValue {
    /// Reads a line: one value, or several with commas between, as HTTP allows and some servers send.
    package static func list(parsing text: String) -> [AuthenticationValue] {
        var scanner = FieldScanner(text.utf8.span)
        var values: [AuthenticationValue] = []
        scanner.skipBlanks()
        guard let first = scanner.token() else { return values }
        var scheme = scanner.text(first)
        scanner.skipBlanks()
        if scanner.restIsOpaque() {
            let rest = scanner.text(scanner.offset..<scanner.bytes.count)
            return [AuthenticationValue(scheme: scheme, opaqueText: rest)]
        }
        var parameters = SIPParameters()
        while true {
            while scanner.current == Character8.comma || scanner.current?.isBlank == true {
                _ = scanner.take(Character8.comma)
                scanner.skipBlanks()
            }
            if scanner.isAtEnd { break }
            guard let name = scanner.token() else {
                scanner.skipToComma()
                continue
            }
            scanner.skipBlanks()
            if scanner.take(Character8.equals) {
                scanner.skipBlanks()
                let value = scanner.authenticationParameterValue()
                parameters.append(name: scanner.text(name), rawValue: value)
            } else if scanner.current?.isToken == true {
                // Two words without "=" between: the first is the scheme of a further value.
                values.append(AuthenticationValue(scheme: scheme, parameters: parameters))
                scheme = scanner.text(name)
                parameters = SIPParameters()
            } else {
                scanner.skipToComma()
            }
        }
        values.append(AuthenticationValue(scheme: scheme, parameters: parameters))
        return values
    }
}

extension FieldScanner {
    /// Whether what is left is one word of base 64, with `=` only at its end.
    fileprivate func restIsOpaque() -> Bool {
        var index = offset
        while index < bytes.count, bytes[index] != Character8.equals {
            if bytes[index].isBlank || bytes[index] == Character8.comma || bytes[index] == Character8.quote {
                return false
            }
            index += 1
        }
        while index < bytes.count, bytes[index] == Character8.equals { index += 1 }
        return index == bytes.count && index > offset
    }

    fileprivate mutating func skipToComma() {
        while let byte = current, byte != Character8.comma {
            if byte == Character8.quote, quotedString() != nil { continue }
            _ = take(byte)
        }
    }

    /// A quoted string, or all up to a comma or blank; a quote that does not end takes the rest.
    fileprivate mutating func authenticationParameterValue() -> String {
        let start = offset
        if current == Character8.quote {
            return text(quotedString() ?? start..<bytes.count)
        }
        return text(run { !$0.isBlank && $0 != Character8.comma } ?? start..<start)
    }
}
