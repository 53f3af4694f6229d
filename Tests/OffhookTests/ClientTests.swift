import Dispatch
import Offhook
import OffhookBasics
import Testing

@Suite struct `A client on a scripted backend` {
    private let queue = callbackQueue()

    private func account(on client: Client) throws -> User {
        try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
    }

    @Test func `an address that does not parse makes no account`() throws {
        let (client, _) = ScriptedBackend.client(callbackQueue: queue)

        #expect { try client.createUser(UserConfiguration(address: "alice")) } throws: { error in
            (error as? CallError)?.code == .invalidArgument
        }
        #expect(client.users.isEmpty)
    }

    @Test func `news of a call comes in the order that apps rely on, on their queue`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let delegate = RecordingDelegate()
        user.callService.delegate = delegate

        let call = try #require(backend.receiveCall(for: user, video: .supported))
        backend.front.apply(.didUpdateVideoChannels([]), to: call)
        backend.front.apply(.didEstablish, to: call) { $0.state = .established }
        backend.front.apply(.didEnd(.failed(CallError(.mediaTimeout, "no media came"))), to: call)
        backend.front.apply(.didEstablish, to: call)
        await settle(queue)

        #expect(
            delegate.news == [
                "didReceiveIncomingCall", "didEstablish", "didUpdateVideoChannels 0", "didChangeActiveCall one",
                "didFail mediaTimeout", "didEnd failed(mediaTimeout)", "didChangeActiveCall none", "didRemove",
            ])
        #expect(delegate.violations.isEmpty)
        #expect(user.callService.calls.isEmpty)
    }

    @Test func `a concurrent queue gets one call at a time too`() async throws {
        let queue = callbackQueue(attributes: .concurrent)
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let delegate = RecordingDelegate()
        user.callService.delegate = delegate
        let call = try #require(backend.receiveCall(for: user))
        let tones = (0..<40).compactMap { DTMFTone(eventCode: UInt8($0 % 16)) }

        backend.front.apply(tones.map { .didReceiveDTMF($0) }, to: call) { _ in }
        await settle(queue)

        #expect(delegate.news == ["didReceiveIncomingCall"] + tones.map { "didReceiveDTMF \($0)" })
        #expect(delegate.violations.isEmpty)
    }

    @Test func `a delegate that is gone is not told and not kept`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        var delegate: RecordingDelegate? = RecordingDelegate()
        weak let reference = delegate
        user.callService.delegate = delegate
        user.delegate = delegate

        delegate = nil
        backend.receiveCall(for: user)
        await settle(queue)

        #expect(reference == nil)
        #expect(user.callService.delegate == nil)
        #expect(user.callService.calls.count == 1)
    }

    @Test func `the properties of a call read its newest status`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let id = try #require(backend.receiveCall(for: user, video: .indefinite))
        let call = try #require(user.callService.calls.first)

        backend.front.apply(.didEstablish, .didHoldRemotely, to: id) { status in
            status.state = .established
            status.isRemotelyHeld = true
        }

        #expect(call.id == id)
        #expect(call.direction == .incoming)
        #expect(call.incomingVideoStatus == .indefinite)
        #expect(call.state == .established)
        #expect(call.isRemotelyHeld)
        #expect(!call.isHeld)
        #expect(call.startDate != nil && call.establishedDate != nil && call.endDate == nil)
        #expect(user.callService.activeCall === call)
    }

    @Test func `a command that its capability denies throws that reason and goes no further`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        backend.receiveCall(for: user) { $0.capabilities[.hold] = .denied(.callHasNoAudio) }
        let call = try #require(user.callService.calls.first)

        await #expect { try await call.hold() } throws: { error in
            let error = error as? CallError
            return error?.code == .notAllowed && error?.denialReason == .callHasNoAudio
        }
        #expect(backend.commands.isEmpty)
        try await call.unhold()
        #expect(backend.commands == ["unhold"])
    }

    @Test func `a call that is up already is accepted once more without a word`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        backend.receiveCall(for: user) { $0.state = .established }
        let call = try #require(user.callService.calls.first)

        try await call.accept()

        #expect(backend.commands.isEmpty)
    }

    @Test func `changed capabilities are told by name`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let delegate = RecordingDelegate()
        user.callService.delegate = delegate
        let call = try #require(backend.receiveCall(for: user))

        backend.front.apply(to: call) { status in
            status.capabilities[.hold] = .denied(.operationInProgress)
            status.capabilities[.receiveOnly] = .denied(.callHasNoVideo)
        }
        await settle(queue)

        #expect(delegate.news.last == "didChangeCapabilities hold,setVideoMode.receiveOnly")
    }

    @Test func `keys that both sides have only after the call is up are told, those of before are not`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let delegate = RecordingDelegate()
        user.callService.delegate = delegate
        let late = try #require(backend.receiveCall(for: user))
        let early = try #require(backend.receiveCall(for: user))

        backend.front.apply(.didEstablish, to: late) { $0.state = .established }
        backend.front.apply(to: late) { $0.isSecure = true }
        backend.front.apply(to: late) { $0.isHeld = true }
        backend.front.apply(.didEstablish, to: early) { $0.isSecure = true }
        await settle(queue)

        #expect(delegate.news.filter { $0.contains("Security") } == ["didChangeSecurity true"])
    }

    @Test func `a mode set while another change is in flight is carried out after it`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let call = try user.callService.createCall(to: "sip:bob@example.org")
        let gate = Gate()
        backend.on("hold") { _, _ in await gate.wait() }

        let holding = Task { try await call.hold() }
        await gate.reached()
        let setting = Task { try await call.setVideoMode(.receiveOnly) }
        try await call.muteAudio(true)
        gate.open()
        try await holding.value
        try await setting.value

        #expect(backend.commands == ["hold", "muteAudio true", "setVideoMode receiveOnly"])
    }

    @Test func `keys that no telephone has are refused before any is sent`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let call = try user.callService.createCall(to: "sip:bob@example.org")

        await #expect { try await call.sendDTMF("12x") } throws: { ($0 as? CallError)?.code == .invalidArgument }
        try await call.sendDTMF("12*#d")

        #expect(backend.commands == ["sendDTMF 12*#D"])
    }

    @Test func `figures stay readable after the end`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let call = try user.callService.createCall(to: "sip:bob@example.org")
        var figures = CallStatistics()
        figures.audio.sent.packets = 50

        backend.front.keep(figures, of: call.id)
        call.end()

        #expect(await call.statistics().audio.sent.packets == 50)
        #expect(call.endReason == .ended(by: .local))
    }

    @Test func `a registration is told when it changes, and only then`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try account(on: client)
        let delegate = RecordingDelegate()
        user.delegate = delegate

        backend.front.apply(Registration(state: .registering), to: user.id)
        backend.front.apply(Registration(state: .registering), to: user.id)
        backend.front.apply(Registration(state: .registered, interval: .seconds(600)), to: user.id)
        await settle(queue)

        #expect(delegate.news == ["registration registering", "registration registered"])
        #expect(user.registration.interval == .seconds(600))
    }
}

/// Holds a command back until a test lets it go.
final class Gate: Sendable {
    private let (entering, entered) = AsyncStream<Void>.makeStream()
    private let (leaving, left) = AsyncStream<Void>.makeStream()

    func wait() async {
        entered.yield()
        for await _ in leaving { break }
    }

    func reached() async {
        for await _ in entering { break }
    }

    func open() {
        left.yield()
    }
}
