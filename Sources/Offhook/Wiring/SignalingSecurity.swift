internal import Foundation
internal import OffhookIO

/// The TLS contexts of a client, made of its settings when they are first needed.
final class SignalingSecurity {
    private let settings: TLSConfiguration
    private var client: TLSContext?

    init(_ settings: TLSConfiguration) {
        self.settings = settings
    }

    /// For connecting to servers.
    func clientContext() throws(IOError) -> TLSContext {
        if let client { return client }
        let trust: TLSContext.Trust =
            if settings.acceptsAnyCertificateInsecurely {
                .insecurelyAnybody
            } else {
                settings.trustRootsFile.map { .authorityFile($0) } ?? .system
            }
        let context = try TLSContext.client(trust: trust, identity: try identity())
        client = context
        return context
    }

    /// For accepting connections; nil without a certificate of our own.
    func serverContext() throws(IOError) -> TLSContext? {
        guard let identity = try identity() else { return nil }
        return try TLSContext.server(identity: identity)
    }

    private func identity() throws(IOError) -> TLSContext.Identity? {
        guard let certificate = settings.certificateFile else { return nil }
        let chain = try Self.read(certificate)
        return TLSContext.Identity(
            certificateChain: chain, privateKey: try settings.privateKeyFile.map(Self.read) ?? chain)
    }

    private static func read(_ path: String) throws(IOError) -> [UInt8] {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
            throw IOError(.configuration, reason: "\(path) cannot be read: check the path and its permissions.")
        }
        return Array(data)
    }
}
