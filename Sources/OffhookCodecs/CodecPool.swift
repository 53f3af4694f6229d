internal import Dispatch

/// The threads that codecs run on: as many as the machine has processors, however many calls there are.
///
/// Every encoder and decoder has a serial queue, and all of those share the threads of one pool.
package final class CodecPool: Sendable {
    /// The pool of the process.
    package static let shared = CodecPool()

    private let queue = DispatchQueue(label: "offhook.codecs", qos: .userInteractive, attributes: .concurrent)

    package init() {}

    /// Returns when what was handed to the codecs before is done.
    package func drained() async {
        await withCheckedContinuation { continuation in queue.async(flags: .barrier) { continuation.resume() } }
    }

    func makeQueue(_ name: String) -> DispatchQueue {
        DispatchQueue(label: "offhook.codecs.\(name)", target: queue)
    }
}
