import Foundation
import Offhook

// What the options make of the library's settings.

extension ClientConfiguration {
    /// The client's settings by the options.
    init(_ options: Options) {
        self.init()
        bindAddress = options.bindAddress
        if let port = options.port { self.port = port }
        mediaPorts = options.mediaPorts
        tls.trustRootsFile = options.trustRootsFile
        tls.acceptsAnyCertificateInsecurely = options.acceptsAnyCertificate
        tls.certificateFile = options.certificateFile
        tls.privateKeyFile = options.privateKeyFile
        if options.certificateFile != nil { transports.insert(.tls) }
        allowedPeers = options.allowedPeers
        transferPolicy = options.transferPolicy
        if let codecs = options.audioCodecs { audioCodecs = codecs }
        if let codecs = options.videoCodecs { videoCodecs = codecs }
        if let security = options.security { mediaSecurity = security }
        if let ice = options.ice { connectivity.ice = ice }
        connectivity.stunServers = options.stunServers
        if let bitrate = options.bitrate { videoLimits.startBitrate = bitrate }
        videoLimits.maximumBitrate = max(options.maximumBitrate ?? videoLimits.maximumBitrate, videoLimits.startBitrate)
        if let maximum = options.maximumBitrate, options.bitrate == nil {
            videoLimits.startBitrate = min(videoLimits.startBitrate, maximum)
            videoLimits.maximumBitrate = maximum
        }
        switch options.camera {
        case .pattern(let format?), .v4l2(_, let format?), .screen(let format?):
            videoLimits.maximumSize = format.size
            videoLimits.maximumFrameRate = Int(format.frameRate.rounded(.up))
        // A screen made small could not be read.
        case .screen: videoLimits.maximumSize = VideoSize(width: 1920, height: 1080)
        case .none, .pattern, .v4l2, .file: break
        }
    }
}

extension UserConfiguration {
    /// The account's settings by the options.
    init(_ options: Options, password: String?) {
        let account = options.account ?? "sip:offhook@\(Self.ownHost(options))"
        self.init(address: account, displayName: options.displayName)
        if let password {
            let user = account.dropFirst(account.hasPrefix("sips:") ? 5 : 4).prefix { $0 != "@" }
            credentials = Credentials(
                authenticationName: options.authenticationName ?? String(user), password: password)
        }
        if options.registers {
            let domain = account.split(separator: "@").last.map(String.init) ?? account
            server = SignalingServer(options.server ?? domain, transport: options.transport)
        } else if let host = options.server {
            let transport = options.transport.map { ";transport=\($0.word)" } ?? ""
            outboundProxy = "sip:\(host)\(transport);lr"
        }
        if let proxy = options.outboundProxy {
            let uri = proxy.lowercased().hasPrefix("sip") ? proxy : "sip:\(proxy)"
            // That they agree was checked with the options.
            outboundProxy = options.transport.flatMap { try? CallTarget.with($0, uri) } ?? proxy
        }
        if let expires = options.expires { registrationInterval = expires }
        if !options.relayServers.isEmpty, let credentials, let password {
            var connectivity = ClientConfiguration(options).connectivity
            connectivity.relayServers = options.relayServers.map { uri in
                ConnectivityConfiguration.RelayServer(
                    uri: uri, username: credentials.authenticationName, password: password)
            }
            self.connectivity = connectivity
        }
    }

    /// The bind address, or an address of this machine where that is open.
    private static func ownHost(_ options: Options) -> String {
        let address = options.bindAddress.flatMap { $0.isUnspecified ? nil : $0 } ?? LocalAddress.first
        return address.isVersion4 ? "\(address)" : "[\(address)]"
    }
}

/// The addresses of this machine.
enum LocalAddress {
    /// The first IPv4 address that is not the machine's own loop; else 127.0.0.1.
    static var first: IPAddress {
        let loopback = IPAddress(version4: 0x7F00_0001)
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return loopback }
        defer { freeifaddrs(list) }
        for item in sequence(first: list, next: { $0?.pointee.ifa_next }).prefix(while: { $0 != nil }) {
            guard let entry = item?.pointee, let name = entry.ifa_addr, name.pointee.sa_family == AF_INET else {
                continue
            }
            let value = name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
            let address = IPAddress(version4: UInt32(bigEndian: value))
            if !address.isLoopback { return address }
        }
        return loopback
    }
}

/// The files of certificates and keys that the options name.
enum TrustFiles {
    /// Throws where one is missing or something else, whether this run needs it or not.
    static func check(_ options: Options) throws(FileFailure) {
        for path in [options.trustRootsFile, options.certificateFile, options.privateKeyFile].compactMap(\.self) {
            guard try InputText.read(path, limit: 16 << 20).contains("-----BEGIN ") else {
                throw FileFailure("\(path) has no certificate or key in PEM; give a file with -----BEGIN … lines")
            }
        }
    }
}

/// The password that the options lead to.
enum Password {
    static func read(_ options: Options) throws -> String? {
        if let path = options.passwordFile {
            let text = try InputText.read(path, limit: 1 << 16)
            guard let line = text.split(whereSeparator: \.isNewline).first else {
                throw FileFailure("\(path) is empty; write the password in its first line")
            }
            return String(line)
        }
        if let variable = options.passwordVariable {
            guard let password = ProcessInfo.processInfo.environment[variable] else {
                throw UsageError(
                    "the environment has no \(variable); type \(variable)=… before offhook, or --password-file FILE")
            }
            return password
        }
        return nil
    }
}
