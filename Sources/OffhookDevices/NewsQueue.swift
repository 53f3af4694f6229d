internal import Dispatch

extension DispatchQueue {
    /// Where the delegate of one device is called: on an app's queue, one job at a time even if that queue is concurrent.
    static func news(on callbackQueue: DispatchQueue) -> DispatchQueue {
        DispatchQueue(label: "offhook.device.news", target: callbackQueue)
    }
}
