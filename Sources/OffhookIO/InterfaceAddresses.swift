package import OffhookBasics

/// An address of one of this machine's interfaces.
package struct InterfaceAddress: Hashable, Sendable {
    /// The interface's name (`eth0`).
    package let interface: String
    package let address: IPAddress
    package let isLoopback: Bool
    package let isPointToPoint: Bool

    /// The addresses of all interfaces that are up.
    package static func all() throws(IOError) -> [InterfaceAddress] {
        []
    }

    /// The local address that packets to `destination` leave from; nil without a route. Sends nothing.
    package static func toward(_ destination: Endpoint) -> IPAddress? {
        nil
    }
}

/// Tells when an address of this machine comes or goes.
package final class InterfaceMonitor: @unchecked Sendable {
    /// Calls `handler` on the loop's thread with all addresses after each change.
    package init(on loop: EventLoop, handler: @escaping ([InterfaceAddress]) -> Void) throws(IOError) {
        throw IOError(.configuration, reason: "The monitor is not there yet.")
    }

    package func close() {}
}
