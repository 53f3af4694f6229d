/// The value of Session-Expires (RFC 4028 §4).
package struct SessionExpires: Equatable, Sendable {
    package enum Refresher: String, Sendable {
        case uac
        case uas
    }

    package var seconds: UInt32
    package var refresher: Refresher?

    package init(seconds: UInt32, refresher: Refresher? = nil) {
        self.seconds = seconds
        self.refresher = refresher
    }
}

extension SessionExpires {
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let seconds = scanner.number(), let parameters = scanner.parametersToEnd() else { return nil }
        self.init(seconds: seconds, refresher: parameters["refresher"].flatMap { Refresher(rawValue: $0.lowercased()) })
    }
}

extension SessionExpires: CustomStringConvertible {
    package var description: String {
        "\(seconds)" + (refresher.map { ";refresher=\($0.rawValue)" } ?? "")
    }
}
