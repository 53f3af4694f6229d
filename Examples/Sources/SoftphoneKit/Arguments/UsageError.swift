/// What is wrong with a command line, in one line that says what to type instead.
struct UsageError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
