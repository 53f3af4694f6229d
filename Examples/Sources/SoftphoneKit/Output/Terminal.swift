import Foundation

/// Words for people: lines that stay, and one live line below them that is written over.
@MainActor final class Terminal {
    /// Whether a person is likely to watch.
    let isInteractive: Bool
    private let isSilent: Bool
    private var liveLine = ""
    /// Whether the live line is being typed on, so that nothing else may be written there.
    private var isHeld = false

    /// - Parameter isSilent: writes nothing, where standard output is for events alone.
    init(isSilent: Bool = false) {
        self.isSilent = isSilent
        isInteractive = !isSilent && isatty(1) == 1
    }

    /// Writes a line that stays.
    func say(_ text: String) {
        guard !isSilent else { return }
        let text = Printable.text(text, keepsLines: true)
        put((isInteractive && !liveLine.isEmpty ? "\r\u{1B}[K" : "") + text + "\n" + (isInteractive ? liveLine : ""))
    }

    /// Keeps the live line for what a person types.
    func holdLine(_ text: String) {
        isHeld = true
        liveLine = Printable.text(text)
        if isInteractive { put("\r\u{1B}[K" + liveLine) }
    }

    /// Ends the line that was typed.
    func releaseLine() {
        isHeld = false
        endLine()
    }

    /// Writes over the live line; where nobody watches, a line of its own.
    func show(_ text: String) {
        guard !isSilent, !isHeld else { return }
        let text = Printable.text(text)
        guard isInteractive else {
            put(text + "\n")
            return
        }
        // The end, which tells how good the call is, matters more than the middle.
        let width = max(columns - 1, 40)
        liveLine = text.count <= width ? text : "\(text.prefix(width - 23))… \(text.suffix(21))"
        put("\r\u{1B}[K" + liveLine)
    }

    /// Ends the live line, which stays as it is.
    func endLine() {
        guard !liveLine.isEmpty, !isHeld else { return }
        liveLine = ""
        if isInteractive { put("\n") }
    }

    /// Writes a line to standard error; where nobody reads that, the line is lost and nothing waits.
    nonisolated static func complain(_ text: String) {
        // As much as a pipe takes at once when it says that it can be written to.
        let bytes = Array((Printable.text(text).prefix(1000) + "\n").utf8).prefix(Int(PIPE_BUF))
        var error = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
        guard poll(&error, 1, 200) == 1 else { return }
        _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    private var columns: Int {
        // `struct winsize`: rows, columns, and the same in pixels.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size[1] > 0 else { return 80 }
        return Int(size[1])
    }

    private func put(_ text: String) {
        OutputQueue.standardOutput.write(text)
    }
}
