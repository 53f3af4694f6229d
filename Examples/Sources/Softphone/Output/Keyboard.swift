import Foundation

/// What a person types.
enum Keyboard {
    /// The next line, without its end; nil at the end of input.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            // On a thread of its own, since it may take for ever.
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }
}
