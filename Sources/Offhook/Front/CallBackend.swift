package import OffhookMedia

/// What came of a command that had to be waited for.
///
/// It is returned and not thrown, since the optimizer of Swift 6.3 takes the way back to the caller's actor out of a
/// `nonisolated(nonsending)` function where that only hands an error on: a command that threw from one actor to another
/// left the app's `catch` on the network thread. A result comes back by `return`, where the way back stays.
package typealias CommandOutcome = Result<Void, CallError>

/// What carries out the commands of a client: the engine on its loop, or a script in tests.
///
/// Synchronous methods return at once and may be called on any thread. Asynchronous ones return when the far end has
/// agreed or refused, and report news to the ``ClientFront`` before they return, so that a caller finds the call's
/// status changed when its `await` is over.
package protocol CallBackend: AnyObject, Sendable {
    // MARK: Accounts

    /// Takes an account; throws where its settings do not parse.
    func addUser(_ user: User.ID, configuration: UserConfiguration, media: MediaServices) throws(CallError)
    /// Listens and, with a server, registers.
    func startUser(_ user: User.ID) async -> CommandOutcome
    /// Ends the account's calls, and takes its registration back.
    func stopUser(_ user: User.ID) async
    /// Stops everything and frees the ports.
    func shutdown() async

    // MARK: Calls

    /// Takes an outgoing call that is not started; throws where the address does not parse. Returns its first status.
    func addCall(_ call: Call.ID, of user: User.ID, to address: String, options: CallOptions) throws(CallError)
        -> CallStatus
    func start(_ call: Call.ID) async -> CommandOutcome
    func accept(_ call: Call.ID) async -> CommandOutcome
    func ignore(_ call: Call.ID) async -> CommandOutcome
    func deny(_ call: Call.ID, reason: Call.DenyReason) async -> CommandOutcome
    func redirect(_ call: Call.ID, to address: String) async -> CommandOutcome
    func end(_ call: Call.ID)
    func hold(_ call: Call.ID) async -> CommandOutcome
    func unhold(_ call: Call.ID) async -> CommandOutcome
    func muteAudio(_ call: Call.ID, _ isMuted: Bool) async -> CommandOutcome
    func silenceSpeaker(_ call: Call.ID, _ isSilenced: Bool) async -> CommandOutcome
    func sendDTMF(_ call: Call.ID, _ tones: [DTMFTone]) async -> CommandOutcome
    func setVideoMode(_ call: Call.ID, _ mode: VideoMode) async -> CommandOutcome
    func setPresentation(_ call: Call.ID, _ isPresenting: Bool) async -> CommandOutcome
    func acceptVideo(_ call: Call.ID, _ mode: VideoMode) async -> CommandOutcome
    func denyVideo(_ call: Call.ID) async -> CommandOutcome
    func transfer(_ call: Call.ID, to address: String) async -> CommandOutcome
    func transfer(_ call: Call.ID, to other: Call.ID) async -> CommandOutcome
    func join(_ call: Call.ID, _ other: Call.ID) async -> CommandOutcome
    func sendKeyFrameRequest(_ call: Call.ID) async -> CommandOutcome
    func restartICE(_ call: Call.ID) async -> CommandOutcome
    /// Hands the call's streams to a recorder, as they travel.
    func startRecording(_ call: Call.ID, to recorder: CallRecorder) async -> CommandOutcome
    /// Returns the recorder that gets nothing more from now on; nil where there was none.
    func stopRecording(_ call: Call.ID) async -> CallRecorder?
    /// The call's figures; nil where it has none any more.
    func statistics(of call: Call.ID) async -> CallStatistics?
}

extension CallBackend {
    /// For backends without ICE.
    package func restartICE(_ call: Call.ID) async -> CommandOutcome {
        .failure(.notAllowed(.notSupported, "this call does not use ICE"))
    }

    /// For backends without media.
    package func startRecording(_ call: Call.ID, to recorder: CallRecorder) async -> CommandOutcome {
        .failure(.notAllowed(.notSupported, "this call has no media to record"))
    }

    package func stopRecording(_ call: Call.ID) async -> CallRecorder? { nil }
}
