internal import CLinux
internal import Glibc
package import OffhookBasics

/// Accepts TCP connections on an event loop, with or without TLS. It belongs to the loop's thread.
package final class StreamListener: @unchecked Sendable {
    package let localEndpoint: Endpoint
    /// Called when a connection could not be accepted, for want of descriptors; accepting goes on after a pause.
    package var errorHandler: ((IOError) -> Void)?

    private let loop: EventLoop
    private let options: StreamConnection.Options
    private var accept: ((StreamConnection) -> Void)?
    private var descriptor: Int32?
    private var source: SourceID?

    /// Listens on an address and port; port 0 takes any free one, and `::` takes IPv4 too.
    ///
    /// The handler gets each connection at once, sets its `handler`, and sees `connected` there (after the handshake
    /// where the security is TLS). A connection that gets no handler is closed.
    package init(
        on loop: EventLoop, boundTo endpoint: Endpoint, options: StreamConnection.Options = .init(),
        accept: @escaping (StreamConnection) -> Void
    ) throws(IOError) {
        loop.assertOnLoop()
        let descriptor = try Self.open(boundTo: endpoint)
        var local = clinux_endpoint()
        guard clinux_local(descriptor, &local) == 0, let localEndpoint = local.endpoint else {
            let code = errno
            Glibc.close(descriptor)
            throw IOError(errno: code, doing: "learn a socket's port")
        }
        self.loop = loop
        self.options = options
        self.accept = accept
        self.descriptor = descriptor
        self.localEndpoint = localEndpoint
        do {
            source = try loop.add(self, descriptor: descriptor, interest: .read)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private static func open(boundTo endpoint: Endpoint) throws(IOError) -> Int32 {
        let version = endpoint.address.socketVersion
        let descriptor = clinux_socket(version, 1, endpoint.address.isUnspecified ? 1 : 0)
        guard descriptor >= 0 else { throw IOError(errno: errno, binding: endpoint, as: "TCP") }
        // Connections of an earlier run that wait out their end must not keep the port from us.
        clinux_set_reuse_address(descriptor)
        var address = clinux_endpoint(endpoint)
        guard clinux_bind(descriptor, version, &address) == 0, clinux_listen(descriptor) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw IOError(errno: code, binding: endpoint, as: "TCP")
        }
        return descriptor
    }

    /// Stops accepting; connections stay. Doing it twice is harmless.
    package func close() {
        loop.assertOnLoop()
        guard let descriptor else { return }
        if let source { loop.remove(source, descriptor: descriptor) }
        loopDidEnd()
    }

    private func acceptOne(_ descriptor: Int32) -> Bool {
        var remote = clinux_endpoint()
        let accepted = clinux_accept(descriptor, &remote)
        guard accepted >= 0 else {
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                pause(IOError(errno: errno, doing: "accept a connection"))
            }
            // Others (ECONNABORTED, EPERM …) concern one connection that is gone; the next is tried.
            return errno != EAGAIN
        }
        guard let from = remote.endpoint else {
            Glibc.close(accepted)
            return true
        }
        let connection: StreamConnection
        do {
            connection = try StreamConnection(on: loop, accepted: accepted, from: from, options: options)
        } catch {
            Glibc.close(accepted)
            errorHandler?(error)
            return true
        }
        accept?(connection)
        if connection.handler == nil { connection.close() } else { connection.begin() }
        return true
    }

    /// Without descriptors the listener stays readable; not watching it for a while spares the processor.
    private func pause(_ error: IOError) {
        guard let source, let descriptor else { return }
        loop.update(source, descriptor: descriptor, interest: [])
        loop.schedule(at: loop.now + .milliseconds(100)) { [weak self] in
            guard let self, let source = self.source, let descriptor = self.descriptor else { return }
            self.loop.update(source, descriptor: descriptor, interest: .read)
        }
        errorHandler?(error)
    }
}

extension StreamListener: LoopSource {
    func loopDidSignal(_ events: Interest) {
        for _ in 0..<32 {
            guard let descriptor, acceptOne(descriptor) else { return }
        }
    }

    func loopDidEnd() {
        if let descriptor { Glibc.close(descriptor) }
        descriptor = nil
        source = nil
        accept = nil
        errorHandler = nil
    }
}
