package import OffhookBasics

/// Finds where to send SIP: NAPTR, SRV, A and AAAA by RFC 3263.
///
/// It belongs to the loop's thread: every call is made there and completions are called there.
package final class NameResolver: @unchecked Sendable {
    package enum Transport: Hashable, Sendable {
        case udp, tcp, tls, webSocket, secureWebSocket
    }

    /// What a SIP URI says about where its requests go.
    package struct Query: Hashable, Sendable {
        /// The host of the URI or of its `maddr`: a name, or an address in text.
        package var host: String
        package var port: UInt16?
        package var transport: Transport?
        /// Whether it is a `sips` URI.
        package var isSecure = false

        package init(host: String, port: UInt16? = nil, transport: Transport? = nil, isSecure: Bool = false) {
            self.host = host
            self.port = port
            self.transport = transport
            self.isSecure = isSecure
        }
    }

    package struct Target: Hashable, Sendable {
        package let transport: Transport
        package let endpoint: Endpoint
    }

    package struct Options: Sendable {
        /// The name servers to ask; empty takes the system's.
        package var servers: [Endpoint] = []
        package var timeout = Duration.seconds(2)
        package var attempts = 2
        /// What drives the choice among SRV records of one priority.
        package var seed: UInt64 = 0
        /// Transports that may be used, best first.
        package var transports: [Transport] = [.udp, .tcp, .tls]

        package init() {}
    }

    package init(on loop: EventLoop, options: Options = Options()) throws(IOError) {}

    /// Where to send, best first and never empty; or why that is not known.
    package func resolve(_ query: Query, completion: @escaping (Result<[Target], IOError>) -> Void) {}

    /// The addresses of a host, IPv6 and IPv4.
    package func addresses(of host: String, completion: @escaping (Result<[IPAddress], IOError>) -> Void) {}

    package func close() {}
}
