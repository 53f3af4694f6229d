internal import FoundationEssentials
internal import OffhookBasics
public import OffhookMedia

/// One call.
///
/// Its properties may be read on any thread at any time; each reads the newest status, and ``status`` reads all of it at
/// once. Its commands return when the far end has agreed or refused, except ``end()``, and those made one after another
/// are carried out in that order.
public final class Call: Sendable, Identifiable {
    /// Names a call in its process.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        package let value: UInt64

        package init(value: UInt64) {
            self.value = value
        }

        /// An identifier that nobody has yet.
        package static func next() -> ID { ID(value: ProcessCounter.next()) }

        /// As in `call-3`.
        public var description: String { "call-\(value)" }
    }

    /// How to refuse a call.
    public enum DenyReason: String, Hashable, Sendable, CaseIterable {
        /// We are on another call (486).
        case busy
        /// We do not want to (603).
        case declined
    }

    /// Which call it is.
    public let id: ID
    /// Who began it.
    public let direction: CallDirection
    /// Where it belongs.
    public let callService: CallService

    private struct Record {
        var status: CallStatus
        var order = DelegateOrder()
        var keptStatistics: CallStatistics?
    }

    private let record: Lock<Record>
    private let commands = CommandQueue()
    private let delegateBox = DelegateBox<any CallDelegate>()

    init(id: ID = .next(), direction: CallDirection, status: CallStatus, callService: CallService) {
        self.id = id
        self.direction = direction
        self.callService = callService
        record = Lock(Record(status: status))
    }

    /// Hears the news of the call. Held weakly.
    public var delegate: (any CallDelegate)? {
        get { delegateBox.delegate }
        set { delegateBox.set { [weak newValue] in newValue } }
    }

    /// All of the call's properties at one moment.
    public var status: CallStatus { record.withLock { $0.status } }

    // MARK: From the front

    /// Returns whether the call has ended with this.
    func apply(_ news: [CallNews], at date: Date, update: (inout CallStatus) -> Void) -> Bool {
        record.withLock { record in
            let before = record.status
            let isOver = record.order.isOver
            update(&record.status)
            var admitted = news.flatMap { record.order.admit($0) }
            for item in admitted { Self.note(item, at: date, in: &record.status) }
            if !isOver {
                // Before the end, which is last.
                let end = record.order.isOver ? admitted.endIndex - 1 : admitted.endIndex
                admitted.insert(contentsOf: Self.news(of: record.status, since: before), at: end)
            }
            // Queued under the lock, so that news from two threads keeps its order; told later, and not under it.
            for item in admitted { tell(item) }
            return !isOver && record.order.isOver
        }
    }

    /// What a status tells by being another one than before.
    private static func news(of status: CallStatus, since before: CallStatus) -> [CallNews] {
        var news: [CallNews] = []
        // Whoever hears that the call is up asks for himself.
        if before.establishedDate != nil, status.isSecure != before.isSecure {
            news.append(.didChangeSecurity(status.isSecure))
        }
        let names = status.capabilities.changes(from: before.capabilities)
        if !names.isEmpty { news.append(.didChangeCapabilities(names)) }
        return news
    }

    private static func note(_ news: CallNews, at date: Date, in status: inout CallStatus) {
        switch news {
        case .didStart: status.startDate = date
        case .didEstablish: status.establishedDate = date
        case .didFail(let error): status.lastError = error
        case .didEnd(let reason):
            status.endDate = date
            status.endReason = reason
            status.state = .ended
        default: break
        }
    }

    private func tell(_ news: CallNews) {
        callService.front.delegateQueue.enqueue { [self] in
            guard let delegate = delegateBox.delegate else { return }
            news.tell(delegate, of: self)
        }
    }

    func keep(_ statistics: CallStatistics) {
        record.withLock { $0.keptStatistics = statistics }
    }

    // MARK: Commands

    private var backend: any CallBackend { callService.backend }

    /// Sends the INVITE; returns when the call is up.
    ///
    /// - Throws: `noCommonCodec`, `busy`, `declined`, `notFound`, `timedOut`, `unreachable` and others, by the answer.
    public func start() async throws(CallError) {
        try await commands.turn(.handingOn)
        try capabilities.require(.start)
        try await backend.start(id).get()
    }

    /// Answers; returns when the caller has acknowledged. A call that is up already stays so: one that has taken the place of
    /// another (RFC 3891) is accepted by itself.
    public func accept() async throws(CallError) {
        try await commands.turn(.handingOn)
        if direction == .incoming, status.isUp { return }
        try capabilities.require(.accept)
        try await backend.accept(id).get()
    }

    /// Stops the ringing here. The caller goes on hearing it, and the call can still be accepted or denied.
    public func ignore() async throws(CallError) {
        try capabilities.require(.ignore)
        try await backend.ignore(id).get()
    }

    /// Refuses the call.
    public func deny(_ reason: DenyReason = .declined) async throws(CallError) {
        try capabilities.require(.deny)
        try await backend.deny(id, reason: reason).get()
    }

    /// Sends the caller to another address (302).
    public func redirect(to address: String) async throws(CallError) {
        try capabilities.require(.redirect)
        try await backend.redirect(id, to: address).get()
    }

    /// Ends the call, whatever state it is in. It returns at once and never fails; `callDidEnd(_:reason:)` follows.
    public func end() {
        backend.end(id)
    }

    /// Puts the far end on hold.
    public func hold() async throws(CallError) {
        try await commands.turn(.negotiating)
        defer { commands.finish(.negotiating) }
        try capabilities.require(.hold)
        try await backend.hold(id).get()
    }

    /// Takes the far end off hold. If it holds us too, that hold stays.
    public func unhold() async throws(CallError) {
        try await commands.turn(.negotiating)
        defer { commands.finish(.negotiating) }
        try capabilities.require(.unhold)
        try await backend.unhold(id).get()
    }

    /// Sends silence instead of our sound, or our sound again. The far end is not told.
    public func muteAudio(_ isMuted: Bool) async throws(CallError) {
        try capabilities.require(.muteAudio)
        try await backend.muteAudio(id, isMuted).get()
    }

    /// Plays nothing of the call here, or plays it again.
    public func silenceSpeaker(_ isSilenced: Bool) async throws(CallError) {
        try capabilities.require(.silenceSpeaker)
        try await backend.silenceSpeaker(id, isSilenced).get()
    }

    /// Sends the sound of one key (RFC 4733, or INFO where the peer has no telephone-event); returns when it is out.
    public func sendDTMF(_ tone: DTMFTone) async throws(CallError) {
        try capabilities.require(.sendDTMF)
        callService.front.tones(of: self)?.play([tone])
        try await backend.sendDTMF(id, [tone]).get()
    }

    /// Sends the sound of several keys, `0` to `9`, `*`, `#` and `A` to `D`, one after another.
    ///
    /// - Throws: `invalidArgument` for any other character.
    public func sendDTMF(_ keys: String) async throws(CallError) {
        try capabilities.require(.sendDTMF)
        var tones: [DTMFTone] = []
        for key in keys {
            guard let tone = DTMFTone(key) else {
                throw CallError(.invalidArgument, "there is no key “\(key)” on a telephone")
            }
            tones.append(tone)
        }
        callService.front.tones(of: self)?.play(tones)
        try await backend.sendDTMF(id, tones).get()
    }

    /// Says whether our pictures are a presentation, as a shared screen is (`a=content:slides`, RFC 4796). The far end reads
    /// it as ``VideoChannel/isPresentation``, and may show such pictures larger. Before the call is up, and while it has no
    /// video, this is kept for the next offer or answer; else it returns when the far end has agreed.
    public func setPresentation(_ isPresenting: Bool) async throws(CallError) {
        try await commands.turn(.negotiating)
        defer { commands.finish(.negotiating) }
        try await backend.setPresentation(id, isPresenting).get()
    }

    /// Chooses what video does. Before the call is up this is kept for the offer or answer; on a call that is up it
    /// returns when the far end has agreed.
    ///
    /// - Throws: `videoDenied` where the far end refuses.
    public func setVideoMode(_ mode: VideoMode) async throws(CallError) {
        try await commands.turn(.negotiating)
        defer { commands.finish(.negotiating) }
        try capabilities.require(.setVideoMode(mode))
        try await backend.setVideoMode(id, mode).get()
    }

    /// Accepts the video that the far end asked to add.
    public func acceptVideo(_ mode: VideoMode) async throws(CallError) {
        try capabilities.require(.acceptVideo)
        try await backend.acceptVideo(id, mode).get()
    }

    /// Refuses the video that the far end asked to add. Sound goes on untouched.
    public func denyVideo() async throws(CallError) {
        try capabilities.require(.denyVideo)
        try await backend.denyVideo(id).get()
    }

    /// Passes the far end on to an address (RFC 3515); returns when it has got there.
    ///
    /// - Throws: `transferFailed` where it has not. The call is then as before.
    public func transfer(to address: String) async throws(CallError) {
        try await commands.turn(.handingOn)
        try capabilities.require(.transfer)
        try await backend.transfer(id, to: address).get()
    }

    /// Passes the far end on to the far end of another call (RFC 3891); returns when they talk.
    ///
    /// - Throws: `transferFailed` where they do not. Both calls are then as before.
    public func transfer(to call: Call) async throws(CallError) {
        try await commands.turn(.handingOn)
        try capabilities.require(.transfer)
        try await backend.transfer(id, to: call.id).get()
    }

    /// Joins another call with this one: their far ends hear each other from now on, beside us, until either call ends.
    ///
    /// The sound is mixed here; pictures stay as they are. A call on hold hears nobody. Muting a joined call keeps the others
    /// from its far end, too.
    ///
    /// - Throws: `notAllowed` where a call is not up, or belongs to another account.
    public func join(_ call: Call) async throws(CallError) {
        try await commands.turn(.handingOn)
        try capabilities.require(.join)
        try await backend.join(id, call.id).get()
    }

    /// Asks the far end for a picture that needs no other.
    public func sendKeyFrameRequest() async throws(CallError) {
        try capabilities.require(.sendKeyFrameRequest)
        try await backend.sendKeyFrameRequest(id).get()
    }

    /// Looks for a new path to the far end (RFC 8445 §2.4); media goes on by the old one until it is found.
    public func restartICE() async throws(CallError) {
        try await commands.turn(.negotiating)
        defer { commands.finish(.negotiating) }
        try capabilities.require(.restartICE)
        try await backend.restartICE(id).get()
    }

    /// Records the call to a file, from now or, where the call is not up yet, from its first sound or picture on, until
    /// ``stopRecording()`` or the call's end. Both sides are asked for a key frame. The far end is not told: tell it,
    /// where the law wants that.
    ///
    /// - Throws: `notAllowed` where the call is over or is being recorded, or where the recorder had another call.
    public func startRecording(to recorder: CallRecorder) async throws(CallError) {
        try await backend.startRecording(id, to: recorder).get()
    }

    /// Ends the recording, if there is one; the file is complete when this returns.
    public func stopRecording() async {
        await backend.stopRecording(id)?.close()
    }

    /// The call's figures so far. They stay after it has ended.
    public func statistics() async -> CallStatistics {
        if let statistics = await backend.statistics(of: id) { return statistics }
        return record.withLock { $0.keptStatistics } ?? CallStatistics()
    }
}
