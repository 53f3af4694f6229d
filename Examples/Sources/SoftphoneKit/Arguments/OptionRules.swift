import Foundation
import Offhook

/// What options mean together.
enum OptionRules {
    static func check(_ options: Options) throws(UsageError) {
        if let start = options.bitrate, let maximum = options.maximumBitrate, start > maximum {
            throw UsageError(
                "--bitrate \(start / 1000) is above --max-bitrate \(maximum / 1000); type --bitrate from 30 to"
                    + " \(maximum / 1000), or a higher --max-bitrate")
        }
        if let transport = options.transport, let proxy = options.outboundProxy {
            _ = try CallTarget.with(transport, proxy)
        }
        try checkFiles(options)
    }

    /// Who waits for calls listens by UDP and TCP always, and by TLS with a certificate.
    static func checkListening(_ options: Options) throws(UsageError) {
        guard !options.hasServer, let transport = options.transport else { return }
        switch transport {
        case .udp, .tcp: break
        case .tls:
            guard options.certificateFile == nil else { return }
            throw UsageError(
                "--transport tls without a server needs a certificate; type --tls-cert FILE --tls-key FILE")
        case .webSocket, .secureWebSocket:
            throw UsageError("--transport \(transport.word) needs a server; type --server HOST")
        }
    }

    /// No file is written twice, or written and read.
    private static func checkFiles(_ options: Options) throws(UsageError) {
        var written: [String: String] = [:]
        for (name, path) in files(of: options) {
            guard let path else { continue }
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            // As /dev/null, which takes anything.
            guard !file.hasPrefix("/dev/") else { continue }
            if let other = written[file] {
                throw UsageError("\(other) and \(name) name one file, \(path); type another for one of them")
            }
            written[file] = name
        }
    }

    private static func files(of options: Options) -> [(String, String?)] {
        var files = [("--stats", options.statisticsFile), ("--trace", options.traceFile), ("--record", options.record)]
        switch options.display {
        case .codedFile(let path), .file(let path): files.append(("--display", path))
        case .none, .window, .terminal: break
        }
        if case .file(let path) = options.speaker { files.append(("--speaker", path)) }
        if case .file(let path) = options.camera { files.append(("--camera", path)) }
        if case .file(let path) = options.microphone { files.append(("--microphone", path)) }
        files.append(("--password-file", options.passwordFile))
        files.append(("--tls-ca", options.trustRootsFile))
        // A certificate and its key may well be in one file.
        let secrets = Set([options.certificateFile, options.privateKeyFile].compactMap(\.self))
        return files + secrets.map { ("--tls-cert or --tls-key", $0) }
    }
}
