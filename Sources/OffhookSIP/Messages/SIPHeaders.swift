/// The header fields of a message in their order; unknown ones are kept as they came.
package struct SIPHeaders: Sendable {
    package struct Field: Equatable, Sendable {
        package let name: SIPHeaderName
        /// Unfolded, without white space around it. One line, which may hold several values.
        package let value: String

        /// Line ends in the value become spaces: nothing may be smuggled into a header that way.
        package init(name: SIPHeaderName, value: String) {
            self.name = name
            self.value = value.onOneLine
        }

        init(name: SIPHeaderName, line: String) {
            self.name = name
            value = line
        }
    }

    package private(set) var fields: [Field]

    package init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The first line's whole value; setting replaces all lines of that name, nil removes them.
    package subscript(first name: SIPHeaderName) -> String? {
        get { fields.firstIndex { $0.name == name }.map { fields[$0].value } }
        set {
            if let newValue { replace(name, with: [newValue]) } else { remove(name) }
        }
    }

    package func contains(_ name: SIPHeaderName) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Every line's whole value, in order.
    package func all(_ name: SIPHeaderName) -> [String] {
        fields.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Every value, in order: lines are split at commas outside quotes and angle brackets (RFC 3261 §7.3.1).
    package func values(_ name: SIPHeaderName) -> [String] {
        var values: [String] = []
        for index in fields.indices where fields[index].name == name {
            values += CommaList.split(fields[index].value)
        }
        return values
    }

    mutating func append(_ field: Field) {
        fields.append(field)
    }

    package mutating func append(_ name: SIPHeaderName, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Puts a line before all others of that name.
    package mutating func prepend(_ name: SIPHeaderName, _ value: String) {
        let index = fields.firstIndex { $0.name == name } ?? 0
        fields.insert(Field(name: name, value: value), at: index)
    }

    package mutating func remove(_ name: SIPHeaderName) {
        fields.removeAll { $0.name == name }
    }

    /// Removes all lines of that name and puts these, one a line, where the first of them was.
    package mutating func replace(_ name: SIPHeaderName, with values: [String]) {
        let index = fields.firstIndex { $0.name == name } ?? fields.endIndex
        remove(name)
        fields.insert(contentsOf: values.map { Field(name: name, value: $0) }, at: min(index, fields.endIndex))
    }

    /// Takes the first value off, be it a line of its own or the head of a list.
    package mutating func removeFirstValue(_ name: SIPHeaderName) {
        guard let index = fields.firstIndex(where: { $0.name == name }) else { return }
        let rest = CommaList.split(fields[index].value).dropFirst()
        if rest.isEmpty {
            fields.remove(at: index)
        } else {
            fields[index] = Field(name: name, value: rest.joined(separator: ", "))
        }
    }

    /// Copies every line of that name from another message, in order.
    package mutating func copy(_ name: SIPHeaderName, from other: SIPHeaders) {
        fields += other.fields.filter { $0.name == name }
    }

    mutating func reserve(_ count: Int) {
        fields.reserveCapacity(count)
    }
}

extension SIPHeaders: Equatable {}
