import Offhook
import OffhookBasics

/// Takes every call, and writes down what it hears.
final class Answering: CallServiceDelegate, CallDelegate, Sendable {
    private let log = Lock<[String]>([])
    private let newest = Lock<Call?>(nil)
    private let answer: @Sendable (Call) async throws -> Void

    init(_ answer: @escaping @Sendable (Call) async throws -> Void = { try await $0.accept() }) {
        self.answer = answer
    }

    var news: [String] { log.withLock { $0 } }
    var call: Call? { newest.withLock { $0 } }

    private func note(_ news: String) { log.withLock { $0.append(news) } }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        note("didReceiveIncomingCall")
        newest.withLock { $0 = call }
        call.delegate = self
        Task {
            do { try await answer(call) } catch { note("answer failed: \(error)") }
        }
    }
    func callService(_ callService: CallService, didRemove call: Call) { note("didRemove") }
    func callDidStart(_ call: Call) { note("didStart") }
    func callDidEstablish(_ call: Call) { note("didEstablish") }
    func call(_ call: Call, didChangeSecurity isSecure: Bool) { note("didChangeSecurity \(isSecure)") }
    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        note("didUpdateVideoChannels \(videoChannels.map(\.negotiatedDirection.rawValue))")
    }
    func call(_ call: Call, didFailWithError error: CallError) {
        note("didFail \(error.code)")
        call.end()
    }
    func callDidEnd(_ call: Call, reason: CallEndReason) { note("didEnd \(reason)") }
}
