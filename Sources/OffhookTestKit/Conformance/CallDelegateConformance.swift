public import Dispatch
public import Offhook
internal import OffhookBasics

/// A delegate that holds the news of calls to the order that apps may rely on, and hands it on to a delegate of yours.
///
/// Put it where your own delegate would go; both a service and a call may have it, and it takes the place of the delegate
/// that your own gives to an incoming call. Then look at ``results``, one line for each rule:
///
/// ```swift
/// let conformance = CallDelegateConformance(callbackQueue: client.callbackQueue, forwardingTo: receptionist)
/// user.callService.delegate = conformance
/// // … calls come and go …
/// for result in conformance.results { #expect(result.isMet, "\(result)") }
/// ```
///
/// It is held weakly like any delegate, and holds yours weakly too.
public final class CallDelegateConformance: Sendable {
    /// What was found about one rule.
    public struct Result: Hashable, Sendable, CustomStringConvertible {
        /// The rule's short name, as in `ends once`.
        public let name: String
        /// The rule as a sentence.
        public let rule: String
        /// What broke it, in the order it happened.
        public let violations: [String]

        /// Whether nothing broke it.
        public var isMet: Bool { violations.isEmpty }

        /// Name, rule, and what broke it, as one line.
        public var description: String {
            isMet ? "\(name): \(rule)" : "\(name): \(rule) But \(violations.joined(separator: "; "))."
        }
    }

    /// Holds an app's delegate weakly, which need not be sendable.
    private struct Target<Delegate>: @unchecked Sendable {
        // Asked and used on the callback queue alone, as the delegate itself would be.
        let reference: () -> Delegate?
    }

    private let order = Lock(CallNewsOrder())
    private let serviceTarget: Target<any CallServiceDelegate>?
    private let callTargets = Lock<[Call.ID: Target<any CallDelegate>]>([:])
    private let depth = Lock(0)
    private let queueKey = DispatchSpecificKey<Bool>()
    private let knowsQueue: Bool

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - callbackQueue: where the news must come; nil leaves that unchecked.
    ///   - delegate: who is told as well.
    public init(callbackQueue: DispatchQueue? = nil, forwardingTo delegate: (any CallServiceDelegate)? = nil) {
        knowsQueue = callbackQueue != nil
        callbackQueue?.setSpecific(key: queueKey, value: true)
        if let delegate {
            serviceTarget = Target { [weak delegate] in delegate }
        } else {
            serviceTarget = nil
        }
    }

    /// What was found so far, rule by rule.
    public var results: [Result] {
        let violations = order.withLock { $0.violations }
        return CallNewsOrder.Rule.allCases.map { rule in
            Result(name: rule.rawValue, rule: rule.sentence, violations: violations[rule] ?? [])
        }
    }

    /// Puts itself in front of a call's delegate; for outgoing calls, once they have their delegate.
    public func watch(_ call: Call) {
        if let delegate = call.delegate, delegate !== self {
            callTargets.withLock { $0[call.id] = Target { [weak delegate] in delegate } }
        }
        call.delegate = self
    }

    // MARK: Taking news

    private func take(_ name: String, _ note: (inout CallNewsOrder) -> Void, forward: () -> Void) {
        let isAlone = depth.withLock { depth in
            depth += 1
            return depth == 1
        }
        let isOnQueue = !knowsQueue || DispatchQueue.getSpecific(key: queueKey) == true
        order.withLock { order in
            if !isAlone { order.add("\(name) came beside other news", to: .alone) }
            if !isOnQueue { order.add("\(name) came elsewhere", to: .queue) }
            note(&order)
        }
        forward()
        depth.withLock { $0 -= 1 }
    }

    private func take(_ news: CallNews, of call: Call) {
        take(news.name, { $0.receive(news, of: call.id) }) {
            guard let delegate = callTargets.withLock({ $0[call.id] })?.reference() else { return }
            news.tell(delegate, of: call)
        }
    }
}

extension CallDelegateConformance: CallServiceDelegate {
    /// Notes the call, tells your delegate, and watches the call from then on.
    public func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        take("didReceiveIncomingCall", { $0.receiveIncoming(call.id) }) {
            serviceTarget?.reference()?.callService(callService, didReceiveIncomingCall: call)
            watch(call)
        }
    }

    /// Notes the call and tells your delegate.
    public func callService(_ callService: CallService, didCreate call: Call) {
        take("didCreate", { _ in }) { serviceTarget?.reference()?.callService(callService, didCreate: call) }
    }

    /// Notes that the call is gone and tells your delegate.
    public func callService(_ callService: CallService, didRemove call: Call) {
        take("didRemove", { $0.receiveRemoval(of: call.id) }) {
            serviceTarget?.reference()?.callService(callService, didRemove: call)
            callTargets.withLock { $0[call.id] = nil }
        }
    }

    /// Tells your delegate.
    public func callService(_ callService: CallService, didChangeActiveCall call: Call?) {
        take("didChangeActiveCall", { _ in }) {
            serviceTarget?.reference()?.callService(callService, didChangeActiveCall: call)
        }
    }

    /// Tells your delegate.
    public func callServiceDidBecomeAvailable(_ callService: CallService) {
        take("didBecomeAvailable", { _ in }) {
            serviceTarget?.reference()?.callServiceDidBecomeAvailable(callService)
        }
    }

    /// Tells your delegate.
    public func callServiceDidBecomeUnavailable(_ callService: CallService) {
        take("didBecomeUnavailable", { _ in }) {
            serviceTarget?.reference()?.callServiceDidBecomeUnavailable(callService)
        }
    }

    /// Tells your delegate.
    public func callService(_ callService: CallService, didChangeCapabilities names: Set<CallServiceCapabilities.Name>)
    {
        take("didChangeCapabilities", { _ in }) {
            serviceTarget?.reference()?.callService(callService, didChangeCapabilities: names)
        }
    }
}

/// Each method checks the order of the news, and tells your delegate.
extension CallDelegateConformance: CallDelegate {
    /// Checks the order and tells your delegate.
    public func callDidStart(_ call: Call) { take(.didStart, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidBeginRemoteAlerting(_ call: Call, withEarlyMedia hasEarlyMedia: Bool) {
        take(.didBeginRemoteAlerting(hasEarlyMedia: hasEarlyMedia), of: call)
    }
    /// Checks the order and tells your delegate.
    public func callDidQueue(_ call: Call) { take(.didQueue, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidRedirect(_ call: Call) { take(.didRedirect, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidEstablish(_ call: Call) { take(.didEstablish, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidHold(_ call: Call) { take(.didHold, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidUnhold(_ call: Call) { take(.didUnhold, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidHoldRemotely(_ call: Call) { take(.didHoldRemotely, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidUnholdRemotely(_ call: Call) { take(.didUnholdRemotely, of: call) }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        take(.didUpdateVideoChannels(videoChannels), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didReceiveVideoAddRequest direction: MediaDirection) {
        take(.didReceiveVideoAddRequest(direction), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didAcceptVideoAddRequest direction: MediaDirection) {
        take(.didAcceptVideoAddRequest(direction), of: call)
    }
    /// Checks the order and tells your delegate.
    public func callDidDenyVideoAddRequest(_ call: Call) { take(.didDenyVideoAddRequest, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidTimeoutVideoAddRequest(_ call: Call) { take(.didTimeoutVideoAddRequest, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidWithdrawVideoAddRequest(_ call: Call) { take(.didWithdrawVideoAddRequest, of: call) }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didChangeAllowedVideoDirection direction: MediaDirection) {
        take(.didChangeAllowedVideoDirection(direction), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didChangeRemoteAddress address: String, displayName: String?) {
        take(.didChangeRemoteAddress(address, displayName: displayName), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didChangeCapabilities names: Set<CallCapabilities.Name>) {
        take(.didChangeCapabilities(names), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didChangeSecurity isSecure: Bool) { take(.didChangeSecurity(isSecure), of: call) }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didMuteAudio isMuted: Bool) { take(.didMuteAudio(isMuted), of: call) }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didReceiveDTMF tone: DTMFTone) { take(.didReceiveDTMF(tone), of: call) }
    /// Checks the order and tells your delegate.
    public func callDidIgnore(_ call: Call) { take(.didIgnore, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidDeny(_ call: Call) { take(.didDeny, of: call) }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didReceiveTransferRequestTo address: String) {
        take(.didReceiveTransferRequest(to: address), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didProgressTransfer progress: TransferProgress) {
        take(.didProgressTransfer(progress), of: call)
    }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didChangeMediaFlow flow: MediaFlow) { take(.didChangeMediaFlow(flow), of: call) }
    /// Checks the order and tells your delegate.
    public func callDidLoseSignaling(_ call: Call) { take(.didLoseSignaling, of: call) }
    /// Checks the order and tells your delegate.
    public func callDidRecoverSignaling(_ call: Call) { take(.didRecoverSignaling, of: call) }
    /// Checks the order and tells your delegate.
    public func call(_ call: Call, didFailWithError error: CallError) { take(.didFail(error), of: call) }
    /// Checks the order and tells your delegate.
    public func callDidEnd(_ call: Call, reason: CallEndReason) { take(.didEnd(reason), of: call) }
}
