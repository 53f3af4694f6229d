internal import CLinux
internal import Glibc
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
        var room = [clinux_interface](repeating: clinux_interface(), count: 64)
        var count = Int(clinux_interfaces(&room, Int32(room.count)))
        if count > room.count {
            room = [clinux_interface](repeating: clinux_interface(), count: count)
            count = min(count, Int(clinux_interfaces(&room, Int32(count))))
        }
        guard count >= 0 else { throw IOError(errno: errno, doing: "list the addresses of this machine") }
        return room.prefix(count).compactMap(InterfaceAddress.init)
    }

    private init?(_ entry: clinux_interface) {
        guard let address = entry.address.address else { return nil }
        self.address = address
        interface = withUnsafeBytes(of: entry.name) { name in
            String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        }
        isLoopback = entry.is_loopback != 0
        isPointToPoint = entry.is_point_to_point != 0
    }

    /// The local address that packets to `destination` leave from; nil without a route. Sends nothing.
    package static func toward(_ destination: Endpoint) -> IPAddress? {
        let version = destination.address.socketVersion
        let descriptor = clinux_socket(version, 0, 0)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        // A datagram socket's connect only looks the route up; any port does.
        var remote = clinux_endpoint(destination.address, port: destination.port == 0 ? 9 : destination.port)
        var local = clinux_endpoint()
        guard clinux_connect(descriptor, version, &remote) == 0, clinux_local(descriptor, &local) == 0 else {
            return nil
        }
        return local.address.flatMap { $0.isUnspecified ? nil : $0 }
    }
}

/// Tells when an address of this machine comes or goes. It belongs to its loop's thread.
package final class InterfaceMonitor: @unchecked Sendable {
    private let loop: EventLoop
    private var descriptor: Int32?
    private var source: SourceID?
    private var handler: (([InterfaceAddress]) -> Void)?
    private var lastKnown: Set<InterfaceAddress>

    /// Calls `handler` on the loop's thread with all addresses after each change.
    package init(on loop: EventLoop, handler: @escaping ([InterfaceAddress]) -> Void) throws(IOError) {
        loop.assertOnLoop()
        let descriptor = clinux_address_monitor()
        guard descriptor >= 0 else { throw IOError(errno: errno, doing: "watch the addresses of this machine") }
        self.loop = loop
        self.descriptor = descriptor
        self.handler = handler
        lastKnown = []
        do {
            lastKnown = Set(try InterfaceAddress.all())
            source = try loop.add(self, descriptor: descriptor, interest: .read)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    package func close() {
        loop.assertOnLoop()
        guard let descriptor else { return }
        if let source { loop.remove(source, descriptor: descriptor) }
        loopDidEnd()
    }
}

extension InterfaceMonitor: LoopSource {
    func loopDidSignal(_ events: Interest) {
        guard let descriptor else { return }
        // What the kernel says is only that something changed; the list tells what. An overrun (ENOBUFS) says the same.
        while clinux_drain(descriptor) > 0 {}
        compare()
    }

    private func compare() {
        guard let handler else { return }
        do {
            let addresses = try InterfaceAddress.all()
            guard Set(addresses) != lastKnown else { return }
            lastKnown = Set(addresses)
            handler(addresses)
        } catch {
            // Out of descriptors or memory for now; the change must not be missed for that.
            loop.schedule(at: loop.now + .seconds(1)) { [weak self] in self?.compare() }
        }
    }

    func loopDidEnd() {
        if let descriptor { Glibc.close(descriptor) }
        descriptor = nil
        source = nil
        handler = nil
    }
}
