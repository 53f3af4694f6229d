import Foundation
import Testing

@testable import OffhookDevices

/// An X server without a monitor, of which the test reads the pixels straight from its memory.
///
/// It ends when its last client leaves, so that nothing is left where a test crashes.
final class VirtualScreen: @unchecked Sendable {
    // Everything is set before anybody has it, and the server's own thereafter.
    let display: String
    private let server: Process
    private let memory: FileHandle
    /// Stays as long as the screen does, which ends with its last client.
    private let client: XDisplay

    /// The one that tests share; nil where there is no Xvfb.
    static let shared: VirtualScreen? = {
        guard let screen = VirtualScreen(width: 640, height: 480, depth: 24) else { return nil }
        setenv("DISPLAY", screen.display, 1)
        unsetenv("WAYLAND_DISPLAY")
        // Where a machine has OpenGL without a graphics card, drawing by it is slow and no surer.
        setenv("SDL_RENDER_DRIVER", "software", 1)
        return screen
    }()

    static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/Xvfb") }

    init?(width: Int, height: Int, depth: Int) {
        guard Self.isAvailable else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(path: "offhook-screen-\(UUID().uuidString)")
            .path()
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Once the server has its memory and we have it open, it needs no name.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        server = Process()
        server.executableURL = URL(filePath: "/usr/bin/Xvfb")
        server.arguments = [
            "-displayfd", "1", "-screen", "0", "\(width)x\(height)x\(depth)", "-fbdir", folder, "-nolisten", "tcp",
            "-terminate",
        ]
        let output = Pipe()
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        guard (try? server.run()) != nil else { return nil }
        // The server writes its number once it takes connections.
        let number = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let number = Int(number.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        display = ":\(number)"
        guard let client = try? XDisplay(name: display),
            let memory = FileHandle(forReadingAtPath: folder + "/Xvfb_screen0")
        else { return nil }
        self.client = client
        self.memory = memory
    }

    /// Takes the screen away from everybody.
    func stop() {
        // A thread of the pool blocks milder signals, and what it starts inherits that.
        kill(server.processIdentifier, SIGKILL)
    }

    /// The colour at a place of a screen of 24 bits.
    func color(_ x: Int, _ y: Int) -> Color? {
        // The memory has the form of an XWD file: a head of big-endian words, a colour table, and the pixels.
        guard (try? memory.seek(toOffset: 0)) != nil, let head = try? memory.read(upToCount: 100), head.count == 100
        else { return nil }
        let word = { (index: Int) in head[4 * index..<4 * index + 4].reduce(0) { $0 << 8 | Int($1) } }
        let place = word(0) + word(19) * 12 + y * word(12) + x * 4
        guard (try? memory.seek(toOffset: UInt64(place))) != nil, let pixel = try? memory.read(upToCount: 4),
            pixel.count == 4
        else { return nil }
        return Color(red: Int(pixel[2]), green: Int(pixel[1]), blue: Int(pixel[0]))
    }
}

/// A colour as it is on a screen.
struct Color: Hashable, CustomStringConvertible {
    var red: Int
    var green: Int
    var blue: Int

    var description: String { "(\(red), \(green), \(blue))" }

    /// Whether two colours look the same: conversion to the colours of video and back loses a little.
    func isLike(_ other: Color) -> Bool {
        abs(red - other.red) < 12 && abs(green - other.green) < 12 && abs(blue - other.blue) < 12
    }

    static let red = Color(red: 255, green: 0, blue: 0)
    static let green = Color(red: 0, green: 255, blue: 0)
    static let blue = Color(red: 0, green: 0, blue: 255)
    static let white = Color(red: 255, green: 255, blue: 255)
    static let background = Color(red: 16, green: 17, blue: 20)
}

/// Waits until something is so that another process brings about, and says what was found where it does not become so.
func eventually<Value>(
    _ value: () -> Value, is isSo: (Value) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    var last = value()
    while !isSo(last) {
        guard ContinuousClock.now < deadline else {
            Issue.record("It is still \(last)", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(10))
        last = value()
    }
}
