internal import Foundation
internal import OffhookCrypto

/// What tells this machine from others.
enum MachineIdentity {
    /// The same for as long as the system is not installed anew; where the system has no such name, for this process.
    static let text: String = {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let text = try? String(contentsOfFile: path, encoding: .utf8), text.count >= 32 {
                return String(text.prefix(32))
            }
        }
        return "\(SecureRandom.seed())"
    }()
}
