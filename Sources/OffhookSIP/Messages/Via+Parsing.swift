extension Via {
    /// Reads one value; nil if it is wrong or of another SIP version.
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        self.init(&scanner)
    }

    private init?(_ scanner: inout FieldScanner) {
        scanner.skipBlanks()
        guard let protocolName = scanner.token(), scanner.bytes.matches("sip", at: protocolName),
            scanner.takeSlash(), let version = scanner.token(), scanner.bytes.matches("2.0", at: version),
            scanner.takeSlash(), let transport = scanner.token(), scanner.current?.isBlank == true
        else { return nil }
        scanner.skipBlanks()
        guard let host = scanner.host() else { return nil }
        scanner.skipBlanks()
        var port: UInt16?
        if scanner.take(Character8.colon) {
            scanner.skipBlanks()
            guard let number = scanner.port() else { return nil }
            port = number
        }
        guard let parameters = scanner.parametersToEnd() else { return nil }
        self.init(
            transport: Via.transportName(scanner.text(transport)), host: host, port: port, parameters: parameters)
    }

    /// In upper case, which nearly all are already.
    private static func transportName(_ text: String) -> String {
        text.utf8.allSatisfy { !(0x61...0x7A).contains($0) } ? text : text.uppercased()
    }
}

extension FieldScanner {
    fileprivate mutating func takeSlash() -> Bool {
        skipBlanks()
        guard take(Character8.slash) else { return false }
        skipBlanks()
        return true
    }
}
