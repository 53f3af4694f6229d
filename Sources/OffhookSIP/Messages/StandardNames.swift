/// Finds the standard name that a spelling stands for, in constant time.
enum StandardNames {
    private static let byLowercase: [String: SIPHeaderName] = {
        var names: [String: SIPHeaderName] = [:]
        for standard in SIPHeaderName.Standard.allCases {
            let name = SIPHeaderName(standard: standard)
            names[standard.rawValue.lowercased()] = name
            if let compact = standard.compactForm { names[String(compact)] = name }
        }
        return names
    }()

    static func name(for text: String) -> SIPHeaderName {
        byLowercase[text.lowercased()] ?? SIPHeaderName(other: text)
    }
}
