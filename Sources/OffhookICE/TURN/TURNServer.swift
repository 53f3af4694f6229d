package import OffhookBasics

/// A TURN server, its name already looked up, and what it wants to know of us.
package struct TURNServer: Hashable, Sendable {
    package enum Transport: Hashable, Sendable {
        case udp
        /// TCP, or TLS over it: the caller has the connection and gives and takes its bytes.
        case stream
    }

    package var endpoint: Endpoint
    package var transport: Transport
    package var username: String
    package var password: String
    /// Whether the relayed address shall be IPv6 (true), IPv4 (false) or of the server's own family (nil).
    package var wantsVersion6: Bool?

    package init(
        endpoint: Endpoint, transport: Transport = .udp, username: String, password: String, wantsVersion6: Bool? = nil
    ) {
        self.endpoint = endpoint
        self.transport = transport
        self.username = username
        self.password = password
        self.wantsVersion6 = wantsVersion6
    }
}
