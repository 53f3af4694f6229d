import Dispatch
import Offhook
import OffhookBasics

/// Writes down all news, and whether it came on the right queue and one at a time.
final class RecordingDelegate: CallServiceDelegate, CallDelegate, UserDelegate, Sendable {
    static let queueKey = DispatchSpecificKey<String>()

    private let log = Lock<[String]>([])
    private let depth = Lock(0)
    private let faults = Lock<[String]>([])
    private let takesCalls: Bool

    init(takesCalls: Bool = true) {
        self.takesCalls = takesCalls
    }

    var news: [String] { log.withLock { $0 } }
    var violations: [String] { faults.withLock { $0 } }

    private func note(_ news: String) {
        let isAlone = depth.withLock { depth in
            depth += 1
            return depth == 1
        }
        if !isAlone { faults.withLock { $0.append("\(news) came beside another") } }
        if DispatchQueue.getSpecific(key: Self.queueKey) != "callbacks" {
            faults.withLock { $0.append("\(news) came on another queue") }
        }
        log.withLock { $0.append(news) }
        depth.withLock { $0 -= 1 }
    }

    func user(_ user: User, didChangeRegistration registration: Registration) {
        note("registration \(registration.state)")
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        if takesCalls { call.delegate = self }
        note("didReceiveIncomingCall")
    }
    func callService(_ callService: CallService, didCreate call: Call) { note("didCreate") }
    func callService(_ callService: CallService, didRemove call: Call) { note("didRemove") }
    func callService(_ callService: CallService, didChangeActiveCall call: Call?) {
        note("didChangeActiveCall \(call == nil ? "none" : "one")")
    }
    func callServiceDidBecomeAvailable(_ callService: CallService) { note("available") }
    func callServiceDidBecomeUnavailable(_ callService: CallService) { note("unavailable") }

    func callDidStart(_ call: Call) { note("didStart") }
    func callDidEstablish(_ call: Call) { note("didEstablish") }
    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        note("didUpdateVideoChannels \(videoChannels.count)")
    }
    func call(_ call: Call, didChangeSecurity isSecure: Bool) { note("didChangeSecurity \(isSecure)") }

    func call(_ call: Call, didChangeCapabilities names: Set<CallCapabilities.Name>) {
        note("didChangeCapabilities \(names.map(\.rawValue).sorted().joined(separator: ","))")
    }
    func call(_ call: Call, didReceiveDTMF tone: DTMFTone) { note("didReceiveDTMF \(tone)") }
    func call(_ call: Call, didFailWithError error: CallError) { note("didFail \(error.code)") }
    func callDidEnd(_ call: Call, reason: CallEndReason) { note("didEnd \(reason)") }
}

/// A queue that a ``RecordingDelegate`` knows.
func callbackQueue(attributes: DispatchQueue.Attributes = []) -> DispatchQueue {
    let queue = DispatchQueue(label: "callbacks", attributes: attributes)
    queue.setSpecific(key: RecordingDelegate.queueKey, value: "callbacks")
    return queue
}
