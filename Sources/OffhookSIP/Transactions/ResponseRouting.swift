internal import OffhookBasics

/// Where responses to a request go (RFC 3261 §18.2.2, RFC 3581 §4).
package struct ResponseRouting: Sendable {
    package let target: TransportTarget
    /// Where to try next if the connection has gone.
    package let fallback: TransportTarget?

    package init(request: SIPRequest, from source: TransportTarget) {
        let via = request.headers.topVia
        let port = via?.port ?? source.transport.defaultPort
        if source.transport.isReliable {
            target = source
            let sender = Endpoint(source.remote.address, port)
            fallback = source.transport.isWebSocket ? nil : TransportTarget(transport: source.transport, remote: sender)
        } else if let group = via?.maddr.flatMap({ IPAddress(parsing: $0) }) {
            target = TransportTarget(transport: source.transport, remote: Endpoint(group, port))
            fallback = nil
        } else {
            let back = via?.wantsResponsePort == true ? source.remote.port : port
            target = TransportTarget(transport: source.transport, remote: Endpoint(source.remote.address, back))
            fallback = nil
        }
    }

    /// Notes in the top Via where the request came from (RFC 3261 §18.2.1, RFC 3581 §4).
    package static func stamp(_ request: inout SIPRequest, from source: TransportTarget) {
        guard var via = request.headers.topVia else { return }
        let wantsPort = via.wantsResponsePort
        if wantsPort || via.host.address != source.remote.address {
            via.received = source.remote.address
        }
        if wantsPort { via.rport = source.remote.port }
        request.headers.topVia = via
    }
}
