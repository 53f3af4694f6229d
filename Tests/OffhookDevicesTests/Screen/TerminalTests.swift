import Glibc
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Terminal picture` {
    @Test func `two pixels make a character`() {
        var painter = TerminalPainter(colors: .full)

        let bytes = painter.draw([0xFF0000, 0xFF0000, 0x00FF00, 0x0000FF], size: TerminalSize(columns: 2, rows: 1))

        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "\u{1B}[1;1H\u{1B}[38;2;252;0;0m\u{1B}[48;2;0;252;0m▀\u{1B}[48;2;0;0;252m▀\u{1B}[0m")
    }

    @Test func `only what has changed is drawn again`() {
        var painter = TerminalPainter(colors: .full)
        let size = TerminalSize(columns: 3, rows: 1)
        let first = painter.draw([1, 2, 3, 4, 5, 6].map { $0 << 18 }, size: size)

        let same = painter.draw([1, 2, 3, 4, 5, 6].map { $0 << 18 | 1 }, size: size)
        let changed = painter.draw([1, 2, 3, 4, 5, 9].map { $0 << 18 }, size: size)
        painter.forget()
        let again = painter.draw([1, 2, 3, 4, 5, 6].map { $0 << 18 }, size: size)

        #expect(same.isEmpty)
        #expect(
            String(decoding: changed, as: UTF8.self) == "\u{1B}[1;3H\u{1B}[38;2;12;0;0m\u{1B}[48;2;36;0;0m▀\u{1B}[0m")
        #expect(again == first)
    }

    @Test(
        arguments: [
            (0x000000, 16), (0xFFFFFF, 231), (0x808080, 244), (0xFF0000, 196), (0x00FF00, 46), (0x0000FF, 21),
            (0x87AFD7, 110),
        ] as [(UInt32, Int)])
    func `the palette's nearest colour is taken`(_ pixel: UInt32, _ index: Int) {
        #expect(TerminalPainter.paletteIndex(pixel) == index)
    }

    @Test func `without colours the shape of characters tells dark from bright`() {
        var painter = TerminalPainter(colors: .none)

        let bytes = painter.draw(
            [0, 0xFFFFFF, 0x808080, 0, 0xFFFFFF, 0x808080], size: TerminalSize(columns: 3, rows: 1))

        #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}[1;1H @+")
    }

    @Test(
        arguments: [
            (["COLORTERM": "truecolor", "TERM": "xterm-256color"], .full), (["TERM": "xterm-direct"], .full),
            (["TERM": "xterm-256color"], .palette), (["TERM": "dumb"], .none), (["TERM": "vt220"], .none), ([:], .none),
        ] as [([String: String], TerminalConfiguration.Colors)])
    func `the environment tells what a terminal can show`(
        _ environment: [String: String], _ colors: TerminalConfiguration.Colors
    ) {
        #expect(TerminalConfiguration.Colors.detected { environment[$0] } == colors)
    }

    @Test func `a picture is drawn above the text, and the terminal given back`() throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 12)
        var configuration = TerminalConfiguration()
        configuration.descriptor = terminal.descriptor
        configuration.colors = .full
        configuration.reservedRows = 2
        let renderer = TerminalRenderer(configuration: configuration)
        let buffer = VideoFrameBuffer(size: VideoSize(width: 64, height: 64))
        for (plane, level) in [(0, 235), (1, 128), (2, 128)] as [(Int, UInt8)] {
            buffer.withMutablePlane(plane) { $0.update(repeating: level) }
        }

        renderer.handleVideoFrame(VideoFrame(buffer: buffer, captureTime: .zero))
        renderer.close()
        renderer.handleVideoFrame(VideoFrame(buffer: buffer, captureTime: .zero))
        renderer.close()

        let text = terminal.finish()
        #expect(renderer.error == nil)
        #expect(renderer.frameCount == 1)
        #expect(text.hasPrefix("\u{1B}[r\u{1B}[2J\u{1B}[11;12r\u{1B}[11;1H\u{1B}7\u{1B}[1;1H"))
        // 20 of 40 columns are white, in ten rows; the rest is black.
        #expect(text.split(separator: "▀", omittingEmptySubsequences: false).count == 401)
        #expect(
            text.contains("▀\u{1B}[38;2;252;252;252m\u{1B}[48;2;252;252;252m▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀\u{1B}[38;2;0;0;0m"))
        #expect(text.hasSuffix("\u{1B}[0m\u{1B}8\u{1B}[r\u{1B}[12;1H\u{1B}[0m\r\n"))
    }

    @Test func `a terminal that is gone is told in a sentence`() {
        var configuration = TerminalConfiguration()
        configuration.descriptor = -1
        let renderer = TerminalRenderer(configuration: configuration)

        renderer.handleVideoFrame(
            VideoFrame(buffer: VideoFrameBuffer(size: VideoSize(width: 16, height: 16)), captureTime: .zero))
        renderer.close()

        #expect(renderer.error?.reason.contains("the terminal") == true)
    }
}

/// A terminal whose output the test reads.
private final class PseudoTerminal {
    let descriptor: Int32
    private let reader: Int32

    init(columns: UInt16, rows: UInt16) throws {
        // `struct winsize`.
        var size: [UInt16] = [rows, columns, 0, 0]
        reader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN: not locked; which number.
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        try #require(
            reader >= 0 && ioctl(reader, 0x4004_5431, &isLocked) == 0 && ioctl(reader, 0x8004_5430, &number) == 0)
        descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(descriptor >= 0 && ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0)
    }

    /// All that was written; it fits into what the system keeps for a reader, as pictures of this size do.
    func finish() -> String {
        close(descriptor)
        defer { close(reader) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(reader, &block, block.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += block[..<count]
        }
    }
}
