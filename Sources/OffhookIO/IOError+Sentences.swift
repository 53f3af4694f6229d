internal import Glibc
internal import OffhookBasics

extension IOError {
    /// The failure of a system call; `action` says what could not be done ("watch a socket").
    init(errno code: Int32, doing action: String) {
        switch code {
        case EMFILE, ENFILE:
            self.init(
                .system, code: code,
                reason:
                    "Cannot \(action): the process has too many files and sockets open. Raise its limit (ulimit -n).")
        default:
            self.init(.system, code: code, reason: "Cannot \(action): \(String(cString: strerror(code))).")
        }
    }

    /// A bind or listen that failed.
    init(errno code: Int32, binding endpoint: Endpoint, as transport: String) {
        let reason =
            switch code {
            case EADDRINUSE:
                "\(transport) port \(endpoint.port) on \(endpoint.address) is in use by another program; choose another port, or 0 for any free one."
            case EACCES:
                "\(transport) port \(endpoint.port) needs privileges that this program does not have; choose a port above 1023."
            case EADDRNOTAVAIL:
                "\(endpoint.address) is not an address of this machine; bind to one of its own, or to 0.0.0.0 or :: for all."
            case EAFNOSUPPORT:
                "This machine has no IPv\(endpoint.address.isVersion4 ? 4 : 6); bind to an address of the other kind."
            default:
                "Cannot bind \(transport) to \(endpoint): \(String(cString: strerror(code)))."
            }
        self.init(.system, code: code, reason: reason)
    }

    /// A connection or datagram that did not get through.
    init(errno code: Int32, reaching endpoint: Endpoint?) {
        let peer = endpoint.map { "\($0)" } ?? "the destination"
        let reason =
            switch code {
            case ECONNREFUSED:
                "Nothing listens at \(peer); check that the program there runs, and its port."
            case ENETUNREACH, EHOSTUNREACH, EHOSTDOWN:
                "There is no way to \(peer); check the address and this machine's network."
            case ETIMEDOUT:
                "\(peer) does not answer; check the address, and firewalls on the way."
            case ECONNRESET, EPIPE:
                "\(peer) broke the connection off."
            case EACCES, EPERM:
                "A rule of this machine forbids sending to \(peer); check its firewall."
            case EAFNOSUPPORT:
                "The socket speaks the other version of IP than \(peer); use one bound to an address of that version."
            case EMSGSIZE:
                "The datagram is too large for the way to \(peer); use TCP for it."
            case EADDRNOTAVAIL:
                "The local address to reach \(peer) from is not one of this machine's."
            default:
                "Cannot reach \(peer): \(String(cString: strerror(code)))."
            }
        self.init(code == ETIMEDOUT ? .timedOut : .system, code: code, reason: reason)
    }

    static func timedOut(reaching endpoint: Endpoint) -> IOError {
        IOError(errno: ETIMEDOUT, reaching: endpoint)
    }
}
