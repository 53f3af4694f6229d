import Foundation
import Offhook

/// What a person types.
enum Keyboard {
    /// The next line, without its end; nil at the end of input.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            // On a thread of its own, since it may take for ever.
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }

    /// Each key as it is pressed, without waiting for Enter; it ends with the input.
    static func keys() -> AsyncStream<Character> {
        let (keys, continuation) = AsyncStream<Character>.makeStream()
        Thread.detachNewThread {
            var bytes: [UInt8] = []
            while true {
                var byte: UInt8 = 0
                guard read(0, &byte, 1) == 1 else { break }
                bytes.append(byte)
                // A character of UTF-8 has four bytes at most.
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    if bytes.count >= 4 { bytes = [] }
                    continue
                }
                bytes = []
                for key in text { continuation.yield(key) }
            }
            continuation.finish()
        }
        return keys
    }
}

/// The terminal without echo and without waiting for Enter, until it is put back.
final class RawTerminal: Sendable {
    private let settings: Lock<termios?>

    /// Changes the terminal, if there is one.
    init() {
        var settings = termios()
        guard isatty(0) == 1, tcgetattr(0, &settings) == 0 else {
            self.settings = Lock(nil)
            return
        }
        self.settings = Lock(settings)
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(0, TCSANOW, &settings)
    }

    func restore() {
        settings.withLock { settings in
            if var saved = settings { tcsetattr(0, TCSANOW, &saved) }
            settings = nil
        }
    }
}
