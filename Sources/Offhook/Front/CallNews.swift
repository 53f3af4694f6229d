package import OffhookMedia

/// One piece of news of a call, on its way to the call's delegate.
package enum CallNews: Hashable, Sendable {
    case didStart
    case didBeginRemoteAlerting(hasEarlyMedia: Bool)
    case didQueue
    case didRedirect
    case didEstablish
    /// The front adds this one by itself when a call that is up becomes secure, or no longer is.
    case didChangeSecurity(Bool)
    case didHold
    case didUnhold
    case didHoldRemotely
    case didUnholdRemotely
    case didUpdateVideoChannels([VideoChannel])
    case didReceiveVideoAddRequest(MediaDirection)
    case didAcceptVideoAddRequest(MediaDirection)
    case didDenyVideoAddRequest
    case didTimeoutVideoAddRequest
    case didWithdrawVideoAddRequest
    case didChangeAllowedVideoDirection(MediaDirection)
    case didChangeRemoteAddress(String, displayName: String?)
    /// The front adds this one by itself when the capabilities of a status differ.
    case didChangeCapabilities(Set<CallCapabilities.Name>)
    case didMuteAudio(Bool)
    case didReceiveDTMF(DTMFTone)
    case didIgnore
    case didDeny
    case didReceiveTransferRequest(to: String)
    case didProgressTransfer(TransferProgress)
    case didChangeMediaFlow(MediaFlow)
    case didLoseSignaling
    case didRecoverSignaling
    case didFail(CallError)
    case didEnd(CallEndReason)

    /// Tells a delegate, on its queue.
    package func tell(_ delegate: any CallDelegate, of call: Call) {
        switch self {
        case .didStart: delegate.callDidStart(call)
        case .didBeginRemoteAlerting(let early): delegate.callDidBeginRemoteAlerting(call, withEarlyMedia: early)
        case .didQueue: delegate.callDidQueue(call)
        case .didRedirect: delegate.callDidRedirect(call)
        case .didEstablish: delegate.callDidEstablish(call)
        case .didChangeSecurity(let isSecure): delegate.call(call, didChangeSecurity: isSecure)
        case .didHold: delegate.callDidHold(call)
        case .didUnhold: delegate.callDidUnhold(call)
        case .didHoldRemotely: delegate.callDidHoldRemotely(call)
        case .didUnholdRemotely: delegate.callDidUnholdRemotely(call)
        case .didUpdateVideoChannels(let channels): delegate.call(call, didUpdateVideoChannels: channels)
        case .didReceiveVideoAddRequest(let direction): delegate.call(call, didReceiveVideoAddRequest: direction)
        case .didAcceptVideoAddRequest(let direction): delegate.call(call, didAcceptVideoAddRequest: direction)
        case .didDenyVideoAddRequest: delegate.callDidDenyVideoAddRequest(call)
        case .didTimeoutVideoAddRequest: delegate.callDidTimeoutVideoAddRequest(call)
        case .didWithdrawVideoAddRequest: delegate.callDidWithdrawVideoAddRequest(call)
        case .didChangeAllowedVideoDirection(let direction):
            delegate.call(call, didChangeAllowedVideoDirection: direction)
        case .didChangeRemoteAddress(let address, let name):
            delegate.call(call, didChangeRemoteAddress: address, displayName: name)
        case .didChangeCapabilities(let names): delegate.call(call, didChangeCapabilities: names)
        case .didMuteAudio(let isMuted): delegate.call(call, didMuteAudio: isMuted)
        case .didReceiveDTMF(let tone): delegate.call(call, didReceiveDTMF: tone)
        case .didIgnore: delegate.callDidIgnore(call)
        case .didDeny: delegate.callDidDeny(call)
        case .didReceiveTransferRequest(let address): delegate.call(call, didReceiveTransferRequestTo: address)
        case .didProgressTransfer(let progress): delegate.call(call, didProgressTransfer: progress)
        case .didChangeMediaFlow(let flow): delegate.call(call, didChangeMediaFlow: flow)
        case .didLoseSignaling: delegate.callDidLoseSignaling(call)
        case .didRecoverSignaling: delegate.callDidRecoverSignaling(call)
        case .didFail(let error): delegate.call(call, didFailWithError: error)
        case .didEnd(let reason): delegate.callDidEnd(call, reason: reason)
        }
    }
}
