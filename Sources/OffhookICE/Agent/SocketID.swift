/// A socket of the caller's, named by a number that only the caller understands.
package struct SocketID: Hashable, Sendable {
    package var rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}
