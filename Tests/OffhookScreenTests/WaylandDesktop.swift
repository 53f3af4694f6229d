import Foundation
import OffhookMedia
import Testing

/// Weston, on a virtual X screen of its own, so that its desktop can be seen and a person be played. (Its backend without
/// any screen has no seat, which SDL 2.26 does not survive.)
///
/// While it is there SDL finds it by the environment, as a program of a Wayland session does.
final class WaylandDesktop {
    let screen: VirtualScreen
    private let folder: String
    private let server = Process()
    /// Held open: the server goes when this end is closed, also by a crash.
    private let life = Pipe()
    private let environmentBefore: [(name: String, value: String?)]

    /// What is missing; nil where all is there.
    static var missing: String? {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/weston") ? nil : "weston is not installed"
    }

    /// How windows are shown.
    enum Shell: String {
        /// The only one fills the desktop.
        case kiosk = "kiosk-shell.so"
        /// Somewhere, in the size they ask for.
        case desktop = "desktop-shell.so"
    }

    init(size: VideoSize, shell: Shell) async throws {
        screen = try #require(VirtualScreen(width: size.width, height: size.height, depth: 24))
        folder = FileManager.default.temporaryDirectory.appending(path: "offhook-wayland-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        server.executableURL = URL(filePath: "/bin/sh")
        server.arguments = [
            "-c", #"weston "$@" </dev/null & server=$!; cat >/dev/null; kill "$server"; wait"#, "sh",
            "--backend=x11-backend.so", "--use-pixman", "--shell=\(shell.rawValue)", "--no-config", "--idle-time=0",
            "--width=\(size.width)", "--height=\(size.height)", "--socket=screen",
        ]
        server.environment = ProcessInfo.processInfo.environment.merging(
            ["DISPLAY": screen.display, "XDG_RUNTIME_DIR": folder]
        ) { $1 }
        server.standardInput = life
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        let environment = [
            "XDG_RUNTIME_DIR": folder, "WAYLAND_DISPLAY": "screen", "DISPLAY": nil,
            // Debian's SDL tries X11 first.
            "SDL_VIDEODRIVER": "wayland",
        ]
        environmentBefore = environment.keys.map { ($0, ProcessInfo.processInfo.environment[$0]) }
        for (name, value) in environment { Self.set(name, to: value) }
        try server.run()
        let socket = folder + "/screen"
        try await eventually({ FileManager.default.fileExists(atPath: socket) }, is: { $0 })
    }

    deinit {
        for (name, value) in environmentBefore { Self.set(name, to: value) }
        try? life.fileHandleForWriting.close()
        server.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func set(_ name: String, to value: String?) {
        if let value { setenv(name, value, 1) } else { unsetenv(name) }
    }
}
