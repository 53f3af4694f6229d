/// A token with parameters: the value of Event, Subscription-State, Content-Disposition and others.
package struct TokenValue: Equatable, Sendable {
    package var token: String
    package var parameters: SIPParameters

    package init(_ token: String, parameters: SIPParameters = SIPParameters()) {
        self.token = token
        self.parameters = parameters
    }
}

extension TokenValue {
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let token = scanner.token(), let parameters = scanner.parametersToEnd() else { return nil }
        self.init(scanner.text(token), parameters: parameters)
    }
}

extension TokenValue: CustomStringConvertible {
    package var description: String { token + parameters.description }
}
