extension SIPURI: Equatable {
    /// Whether both mean the same (RFC 3261 §19.1.4).
    ///
    /// Not transitive: an unknown parameter counts only if both have it.
    package static func == (left: SIPURI, right: SIPURI) -> Bool {
        left.isSecure == right.isSecure
            && left.port == right.port
            && left.host == right.host
            && isEqual(left.escapedUser, right.escapedUser)
            && isEqual(left.escapedPassword, right.escapedPassword)
            && areEqual(left.parameters, right.parameters)
            && areEqual(left.headers, right.headers)
    }

    /// Parameters that must be in both or in neither.
    private static let decisive = ["user", "ttl", "method", "maddr", "transport"]

    private static func isEqual(_ left: String?, _ right: String?) -> Bool {
        left == right || left.map(PercentEscaping.normalize) == right.map(PercentEscaping.normalize)
    }

    private static func areEqual(_ left: SIPParameters, _ right: SIPParameters) -> Bool {
        if left.isEmpty, right.isEmpty { return true }
        let left = table(left)
        let right = table(right)
        for name in decisive where (left[name] == nil) != (right[name] == nil) { return false }
        return left.allSatisfy { name, value in
            guard let other = right[name] else { return true }
            return other == value
        }
    }

    /// The first of each name; a name without a value has an empty one.
    private static func table(_ parameters: SIPParameters) -> [String: String] {
        let pairs = parameters.list.map { parameter in
            (
                PercentEscaping.normalize(parameter.name).lowercased(),
                PercentEscaping.normalize(parameter.rawValue ?? "").lowercased()
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func areEqual(_ left: [Header], _ right: [Header]) -> Bool {
        if left.count != right.count { return false }
        return left.isEmpty || sorted(left) == sorted(right)
    }

    private static func sorted(_ headers: [Header]) -> [String] {
        headers.map { header in
            PercentEscaping.normalize(header.name).lowercased() + "=" + PercentEscaping.normalize(header.value)
        }.sorted()
    }
}
