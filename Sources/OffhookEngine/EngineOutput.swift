package import OffhookBasics
package import OffhookRTP
package import OffhookSIP

/// What the engine wants done or known, in order.
package enum EngineOutput {
    /// Send this message.
    case sendSignaling([UInt8], to: TransportTarget)
    /// Send this sign of life, which is no message.
    case sendKeepAlive([UInt8], to: TransportTarget)
    /// Find targets for a user agent's question; `CallEngine.resolved` brings them.
    case resolve(ResolveQuery, ResolveQuestion)
    /// Send this datagram, then give the buffer back with `CallEngine.giveBack`.
    case sendMedia(PacketBuffer, from: MediaSocketID, to: Endpoint)
    /// The call that owned these sockets is over.
    case closePorts(MediaPorts)
    /// Connect to a TURN server by TCP or TLS; `CallEngine.relayConnected` or `relayClosed` tells what came of it.
    case connectRelay(RelayConnectionID, ICESettings.Relay)
    /// Send these bytes along a connection to a TURN server.
    case sendRelay(RelayConnectionID, [UInt8])
    /// Close a connection to a TURN server once everything has gone out.
    case closeRelay(RelayConnectionID)

    /// Somebody calls: make the call known, under this handle.
    case incomingCall(CallHandle, AccountHandle, CallSnapshot)
    /// The engine makes a call by itself, as after a transfer: make it known, under this handle.
    case outgoingCall(CallHandle, AccountHandle, CallSnapshot)
    /// The far ends of both calls are to hear each other.
    case joined(CallHandle, CallHandle)
    /// News of a call, with what can be told of it now.
    case news(CallHandle, CallEvent, CallSnapshot)
    /// A command is over.
    case finished(CommandToken, CallFailure?)

    /// How a call's media is to be coded from now on.
    case media(CallHandle, MediaPlan)
    /// A whole encoded picture for this channel's decoder.
    case decodeVideo(CallHandle, ChannelHandle, ReceivedVideoFrame)
    /// The next stretch of sound for the call's decoder.
    case playAudio(CallHandle, AudioPlayout, PlayoutSpeed)
    /// The channel's encoder should make its next picture a key frame.
    case encodeKeyFrame(CallHandle, ChannelHandle)
    /// What the channel's encoder is to make from now on, as the network and the far end allow.
    case targetVideo(CallHandle, ChannelHandle, VideoTarget)
    /// So much of the call's sound does not arrive, in per cent: what its encoder should prepare for.
    case expectAudioLoss(CallHandle, Int)
    /// What the call's sound may take at most, in bits a second; nil: whatever it likes.
    case limitAudio(CallHandle, Int?)
    /// The call's figures before it goes.
    case finalStatistics(CallHandle, CallFigures)
    /// News of an account's registration.
    case registration(AccountHandle, RegistrationStatus)
    /// News of a request made outside calls.
    case requestEvent(RequestID, RequestEvent)
    /// A password is needed for this realm; `CallEngine.provide(_:for:at:)` brings it. `isRepeated` says that the last
    /// one was not taken.
    case credentialsNeeded(CredentialQuestion, AccountHandle, realm: String, isRepeated: Bool)
    /// A line for the log.
    case log(String, CallHandle?)
}

/// Who asks for targets.
package enum ResolveQuestion: Hashable, Sendable {
    /// The user agent, about one of its requests.
    case userAgent(ResolveToken)
    /// A call that is about to start and needs our own address for its offer.
    case call(CallHandle)
    /// An account that is about to register.
    case registration(AccountHandle)
}
