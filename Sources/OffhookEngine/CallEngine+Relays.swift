package import OffhookBasics

/// Names a connection to a TURN server that the edge has for a call.
package struct RelayConnectionID: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// What comes of connections to TURN servers (RFC 8656 §3.1).
extension CallEngine {
    /// The connection stands, TLS included; `local` is our end of it.
    package mutating func relayConnected(_ relay: RelayConnectionID, local: Endpoint, at now: Instant) {
        change(relay, at: now) { $0.relayConnected(relay, local: local, core: &$1) }
    }

    /// Bytes of the connection, cut anyhow.
    package mutating func relayReceived(_ relay: RelayConnectionID, _ bytes: [UInt8], at now: Instant) {
        change(relay, at: now) { $0.relayReceived(relay, bytes, core: &$1) }
    }

    /// The connection could not be made, or is gone.
    package mutating func relayClosed(_ relay: RelayConnectionID, at now: Instant) {
        change(relay, at: now) { $0.relayClosed(relay, core: &$1) }
    }

    private mutating func change(
        _ relay: RelayConnectionID, at now: Instant, _ body: (CallMedia, inout EngineCore) -> Void
    ) {
        core.now = now
        guard let handle = core.owner(of: relay), let call = calls[handle] else { return }
        body(call.media, &core)
        call.tellMediaEvents(core: &core)
        core.touched.insert(handle)
        settle()
    }
}
