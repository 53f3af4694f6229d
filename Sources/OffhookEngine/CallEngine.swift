package import OffhookBasics
package import OffhookRTP
internal import OffhookSDP
package import OffhookSIP

/// All calls of a client as one value: messages, packets, commands and time go in, messages, packets and news come out.
///
/// It reads no clock and touches no socket. After each call of a method drain `nextOutput`, then look at `nextDeadline`.
/// It belongs to one thread.
package struct CallEngine {
    /// Pairs of sockets that should lie ready: enough for a call with audio and video.
    package static let sparePortsWanted = 2

    var core: EngineCore
    var accounts: [AccountHandle: EngineAccount] = [:]
    var accountOrder: [AccountHandle] = []
    var calls: [CallHandle: CallMachine] = [:]
    var accountTasks: [AccountHandle: AccountTasks] = [:]
    private var deadlines = DeadlineQueue<CallHandle>()
    var accountDeadlines = DeadlineQueue<AccountHandle>()

    /// - Parameters:
    ///   - clock: the wall clock for RTCP.
    ///   - firstHandle: handles of incoming calls and of channels count up from here; those of outgoing calls are the
    ///     caller's, and lower.
    package init(
        configuration: EngineConfiguration, clock: NTPClock, seed: UInt64, firstHandle: UInt64 = 1 << 48,
        at now: Instant
    ) {
        core = EngineCore(configuration: configuration, clock: clock, seed: seed, firstNumber: firstHandle, now: now)
    }

    /// The next thing to be done; drain it after each call of any other method.
    package mutating func nextOutput() -> EngineOutput? {
        core.nextOutput()
    }

    // MARK: Sockets and buffers

    package var sparePortCount: Int { core.sparePortCount }

    /// Hands in two fresh sockets for a later media line.
    package mutating func addSparePorts(_ ports: MediaPorts) {
        core.addSpare(ports)
    }

    /// Gives a sent packet's buffer back.
    package mutating func giveBack(_ packet: PacketBuffer) {
        core.pool.give(packet)
    }

    /// A buffer that lies idle here, for the sockets to receive into; nil where none does.
    package mutating func takeIdleBuffer() -> PacketBuffer? {
        core.pool.takeIdle()
    }

    // MARK: Accounts

    /// Says on which ports others reach us.
    package mutating func setListeningPorts(_ ports: [SIPTransport: UInt16]) {
        core.userAgent.configuration.listeningPorts = ports
    }

    package mutating func setAccount(_ account: EngineAccount) {
        if accounts.updateValue(account, forKey: account.handle) == nil { accountOrder.append(account.handle) }
        if core.digests[account.handle]?.name != account.authenticationName {
            core.digests[account.handle] = account.authenticationName.map { DigestClient(name: $0) }
        }
    }

    package func account(_ handle: AccountHandle) -> EngineAccount? {
        accounts[handle]
    }

    // MARK: Input from the network

    package mutating func receiveSignaling(
        _ message: [UInt8], from source: TransportTarget, local: Endpoint, at now: Instant
    ) {
        core.now = now
        core.localAddress = local.address
        core.userAgent.receive(message, from: source, local: local, at: now, actions: &core.actions)
        settle()
    }

    /// Takes a message that a stream's framing has parsed.
    package mutating func receiveSignaling(
        _ message: SIPMessage, from source: TransportTarget, local: Endpoint, at now: Instant
    ) {
        core.now = now
        core.localAddress = local.address
        core.userAgent.receive(message, from: source, local: local, at: now, actions: &core.actions)
        settle()
    }

    /// Takes what could not be parsed, and answers it if it deserves that.
    package mutating func receiveMalformed(_ error: SIPParseError, from source: TransportTarget, at now: Instant) {
        core.now = now
        core.userAgent.receive(error, from: source, actions: &core.actions)
        settle()
    }

    package mutating func receiveMedia(
        _ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, at now: Instant
    ) {
        core.now = now
        guard let handle = core.owners[socket], let call = calls[handle] else {
            core.pool.give(packet)
            return
        }
        call.receiveMedia(packet, on: socket, from: source, core: &core)
        settle(handle)
    }

    /// What was sent to this target did not go out; `reason` tells a person why.
    package mutating func transportFailed(_ target: TransportTarget, reason: String? = nil, at now: Instant) {
        core.now = now
        core.transportFailure = reason
        core.userAgent.transportFailed(target, at: now, actions: &core.actions)
        settle()
        core.transportFailure = nil
    }

    package mutating func connectionClosed(_ target: TransportTarget, reason: String? = nil, at now: Instant) {
        core.now = now
        core.transportFailure = reason
        let sessions = core.userAgent.sessions(along: target)
        core.userAgent.connectionClosed(target, at: now, actions: &core.actions)
        settle()
        core.transportFailure = nil
        for session in sessions { findWay(of: session) }
        for handle in accountOrder {
            changeRegistration(of: handle) { $0.connectionClosed(target, reason: reason, at: now, actions: &$1) }
        }
        settle()
    }

    package mutating func resolved(_ question: ResolveQuestion, routes: [TransportRoute], at now: Instant) {
        core.now = now
        switch question {
        case .userAgent(let token):
            core.userAgent.resolved(token, routes: routes, at: now, actions: &core.actions)
        case .call(let handle):
            calls[handle]?.resolved(routes, core: &core)
            core.touched.insert(handle)
        case .registration(let handle):
            let routes = routes.map { TransportRoute(target: $0.target, local: core.userAgent.advertised($0)) }
            changeRegistration(of: handle) { $0.resolved(routes, at: now, actions: &$1) }
        }
        settle()
    }

    /// Whether a request of ours, such as the BYE of a call that has ended, still waits for its answer.
    package var hasUnansweredRequests: Bool { core.userAgent.hasUnansweredRequests }

    /// Whether a call goes along this connection.
    package func usesConnection(_ connection: UInt64) -> Bool { core.userAgent.usesConnection(connection) }

    // MARK: Time

    package mutating func nextDeadline() -> Instant? {
        var earliest = deadlines.earliest
        for deadline in [core.userAgent.nextDeadline(), accountDeadlines.earliest] {
            if let deadline { earliest = min(earliest ?? deadline, deadline) }
        }
        return earliest
    }

    package mutating func handle(timeoutAt now: Instant) {
        core.now = now
        if let deadline = core.userAgent.nextDeadline(), deadline <= now {
            core.userAgent.handle(timeoutAt: now, actions: &core.actions)
        }
        while let handle = accountDeadlines.popDue(at: now) {
            changeRegistration(of: handle) { $0.handle(timeoutAt: now, actions: &$1) }
        }
        while let handle = deadlines.popDue(at: now) {
            calls[handle]?.handleTimeout(core: &core)
            core.touched.insert(handle)
        }
        settle()
    }

    // MARK: Working off

    /// Works off what the user agent wants, then brings the deadlines of touched calls up to date.
    mutating func settle() {
        repeat {
            var index = 0
            while index < core.actions.count {
                let action = core.actions[index]
                index += 1
                perform(action)
            }
            core.actions.removeAll(keepingCapacity: true)
            for handle in core.touched { calls[handle]?.tellMediaEvents(core: &core) }
        } while !core.actions.isEmpty
        if !core.transferRequests.isEmpty { return followTransfers() }
        guard !core.touched.isEmpty else { return }
        for handle in core.touched { updateDeadline(of: handle) }
        core.touched.removeAll(keepingCapacity: true)
    }

    /// The same after a packet of one call, which rarely wants anything of signalling.
    private mutating func settle(_ handle: CallHandle) {
        if core.actions.isEmpty, core.touched.isEmpty {
            updateDeadline(of: handle)
        } else {
            core.touched.insert(handle)
            settle()
        }
    }

    private mutating func updateDeadline(of handle: CallHandle) {
        guard let call = calls[handle] else {
            deadlines.set(nil, for: handle)
            return
        }
        if call.isOver {
            calls[handle] = nil
            if let session = call.session {
                core.sessionOwners[session] = nil
                core.noteEnd(of: session, account: call.account.handle)
            }
            deadlines.set(nil, for: handle)
        } else {
            deadlines.set(call.nextDeadline, for: handle)
        }
    }

    private mutating func perform(_ action: UserAgentAction) {
        switch action {
        case .send(let bytes, let target):
            core.output(.sendSignaling(bytes, to: target))
        case .resolve(let query, let token):
            core.output(.resolve(query, .userAgent(token)))
        case .event(let session, .incoming(let invite)):
            receiveCall(invite, session: session)
        case .event(let session, let event):
            guard let handle = core.sessionOwners[session], let call = calls[handle] else {
                return receiveLate(event, of: session)
            }
            call.handle(event, core: &core)
            core.touched.insert(handle)
        case .outOfDialogRequest(_, let transaction, _):
            // The configuration accepts none, so that the user agent refuses them by itself.
            core.userAgent.respond(to: transaction, status: 405, at: core.now, actions: &core.actions)
        case .requestEvent(let request, let event):
            receive(event, of: request)
        }
    }

    private mutating func receiveCall(_ invite: IncomingInvite, session: SessionID) {
        guard let account = account(for: invite.request) else {
            core.userAgent.reject(session, status: 404, at: core.now, actions: &core.actions)
            return
        }
        guard calls.count < core.configuration.callLimit else {
            core.userAgent.reject(session, status: 486, at: core.now, actions: &core.actions)
            return
        }
        let handle = CallHandle(number: core.nextNumber())
        let call = CallMachine(incoming: invite, session: session, handle: handle, account: account, core: &core)
        guard let call else { return }
        calls[handle] = call
        core.sessionOwners[session] = handle
        core.touched.insert(handle)
        if let replaced = invite.replaces.flatMap({ core.sessionOwners[$0] }).flatMap({ calls[$0] }) {
            call.takeOver(replaced, core: &core)
        }
    }

    /// Makes the calls that far ends asked for, then goes on working off.
    private mutating func followTransfers() {
        let requests = core.transferRequests
        core.transferRequests = []
        for request in requests {
            guard calls.count < core.configuration.callLimit else {
                request.transferor.transferFollowed(request.referral, status: 503, core: &core)
                continue
            }
            let call = CallMachine(
                following: request, handle: CallHandle(number: core.nextNumber()), core: &core)
            calls[call.handle] = call
            core.touched.insert(call.handle)
            core.output(.outgoingCall(call.handle, call.account.handle, call.snapshot))
            call.perform(.start, token: CommandToken(number: core.nextNumber()), core: &core)
        }
        settle()
    }

    /// The account a call is for: by To, else by the user part of the Request-URI, else the first.
    private func account(for request: SIPRequest) -> EngineAccount? {
        let target = request.uri.sip
        let to = request.headers.to?.uri.sip
        let match =
            accountOrder.first { handle in
                guard let own = accounts[handle]?.identity.uri.sip, let to else { return false }
                return own.user == to.user && own.host == to.host
            } ?? accountOrder.first { accounts[$0]?.identity.uri.sip?.user == target?.user }
        return (match ?? accountOrder.first).flatMap { accounts[$0] }
    }
}
