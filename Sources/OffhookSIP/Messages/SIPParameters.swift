/// Parameters after semicolons, in order; names are compared without case.
package struct SIPParameters: Sendable {
    package struct Parameter: Equatable, Sendable {
        package var name: String
        /// As written: a quoted string keeps its quotes. Nil if there is no `=`.
        package var rawValue: String?

        package init(name: String, rawValue: String?) {
            self.name = name
            self.rawValue = rawValue
        }
    }

    package private(set) var list: [Parameter]

    package init(_ list: [Parameter] = []) {
        self.list = list
    }

    package var isEmpty: Bool { list.isEmpty }

    package func contains(_ name: String) -> Bool {
        list.contains { $0.name.equalsIgnoringCase(name) }
    }

    /// The value without quotes; nil both for a missing parameter and for one without a value.
    ///
    /// Setting nil removes the parameter; a value that is no token is quoted. ``setFlag(_:)`` sets one without a value.
    package subscript(name: String) -> String? {
        get {
            guard let raw = list.first(where: { $0.name.equalsIgnoringCase(name) })?.rawValue else { return nil }
            return raw.unquoted
        }
        set {
            guard let newValue else {
                list.removeAll { $0.name.equalsIgnoringCase(name) }
                return
            }
            set(name, raw: newValue.quotedUnlessToken)
        }
    }

    package mutating func setFlag(_ name: String) {
        set(name, raw: nil)
    }

    /// Sets a value that is written just as given.
    package mutating func set(_ name: String, raw: String?) {
        if let index = list.firstIndex(where: { $0.name.equalsIgnoringCase(name) }) {
            list[index].rawValue = raw
        } else {
            list.append(Parameter(name: name, rawValue: raw))
        }
    }

    mutating func append(name: String, rawValue: String?) {
        list.append(Parameter(name: name, rawValue: rawValue))
    }
}

extension SIPParameters: Equatable {
    package static func == (left: SIPParameters, right: SIPParameters) -> Bool {
        left.list.count == right.list.count
            && zip(left.list, right.list).allSatisfy {
                $0.name.equalsIgnoringCase($1.name) && $0.rawValue == $1.rawValue
            }
    }
}

extension SIPParameters: CustomStringConvertible {
    /// `;name=value;flag`, or nothing.
    package var description: String {
        var text = ""
        for parameter in list {
            text += ";"
            text += parameter.name
            if let value = parameter.rawValue {
                text += "="
                text += value
            }
        }
        return text
    }
}
