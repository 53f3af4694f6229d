package import Dispatch
package import OffhookIO

extension Client {
    /// The backend of a client that an app makes: an engine on an event loop of its own.
    static func makeBackend(configuration: ClientConfiguration, front: ClientFront) -> any CallBackend {
        do throws(IOError) {
            return try EngineHost(configuration: configuration, front: front)
        } catch {
            // Only a process that has used up its threads or descriptors gets here, and it could do nothing with a client.
            fatalError("a client needs a thread and two descriptors: \(error.reason)")
        }
    }

    /// Makes a client whose engine runs on the loop of a simulation, where time and network are a test's.
    package convenience init(
        configuration: ClientConfiguration, callbackQueue: DispatchQueue, on loop: EventLoop, seed: UInt64
    ) {
        self.init(configuration: configuration, callbackQueue: callbackQueue) { front in
            EngineHost(configuration: configuration, front: front, loop: loop, ownsLoop: false, seed: seed)
        }
    }
}
