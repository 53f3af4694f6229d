/// The value of Replaces (RFC 3891 §6.1).
package struct Replaces: Equatable, Sendable {
    package var callID: String
    package var toTag: String
    package var fromTag: String
    package var isEarlyOnly: Bool

    package init(callID: String, toTag: String, fromTag: String, isEarlyOnly: Bool = false) {
        self.callID = callID
        self.toTag = toTag
        self.fromTag = fromTag
        self.isEarlyOnly = isEarlyOnly
    }
}

extension Replaces {
    /// Nil without both tags (RFC 3891 §6.1).
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let callID = scanner.run(while: { !$0.isBlank && $0 != Character8.semicolon }),
            let parameters = scanner.parametersToEnd(),
            let toTag = parameters["to-tag"], let fromTag = parameters["from-tag"]
        else { return nil }
        self.init(
            callID: scanner.text(callID), toTag: toTag, fromTag: fromTag,
            isEarlyOnly: parameters.contains("early-only"))
    }
}

extension Replaces: CustomStringConvertible {
    package var description: String {
        "\(callID);to-tag=\(toTag);from-tag=\(fromTag)" + (isEarlyOnly ? ";early-only" : "")
    }
}
