package import OffhookBasics
package import OffhookSIP

/// What the app and the network wait for of an account.
struct AccountTasks {
    var starts: [CommandToken] = []
    var stops: [CommandToken] = []
    /// The REGISTER that is out.
    var register: RequestID?
}

/// What accounts do outside their calls.
extension CallEngine {
    // MARK: From the app

    /// Starts an account: it registers, if it has a registrar. `.finished` tells how the first try went.
    package mutating func startAccount(_ handle: AccountHandle, token: CommandToken, at now: Instant) {
        core.now = now
        guard let account = accounts[handle], let settings = account.registration, let server = account.server else {
            core.output(.finished(token, nil))
            return
        }
        if core.registrations[handle]?.isRegistered == true { return core.output(.finished(token, nil)) }
        if core.registrations[handle] == nil {
            core.registrations[handle] = RegistrationMachine(
                identity: account.identity, server: server, routes: account.routes, settings: settings,
                seed: core.random.next())
        }
        accountTasks[handle, default: AccountTasks()].starts.append(token)
        changeRegistration(of: handle) { $0.start(actions: &$1) }
        settle()
    }

    /// Ends an account's calls and takes its registration back; `.finished` comes when that is done. The account is
    /// gone then.
    package mutating func stopAccount(_ handle: AccountHandle, token: CommandToken, at now: Instant) {
        core.now = now
        for call in calls.values where call.account.handle == handle { end(call.handle, at: now) }
        accountTasks[handle, default: AccountTasks()].stops.append(token)
        if core.registrations[handle] == nil {
            removeAccount(handle)
        } else {
            changeRegistration(of: handle) { $0.stop(at: now, actions: &$1) }
        }
        settle()
    }

    private mutating func removeAccount(_ handle: AccountHandle) {
        accounts[handle] = nil
        core.digests[handle] = nil
        core.registrations[handle] = nil
        accountDeadlines.set(nil, for: handle)
        accountOrder.removeAll { $0 == handle }
        let tasks = accountTasks.removeValue(forKey: handle)
        let failure = CallFailure(.cancelled, "The account was stopped.")
        for token in tasks?.starts ?? [] { core.output(.finished(token, failure)) }
        for token in tasks?.stops ?? [] { core.output(.finished(token, nil)) }
    }

    /// Brings the password that `.credentialsNeeded` asked for; nil gives up.
    package mutating func provide(_ password: String?, for question: CredentialQuestion, at now: Instant) {
        core.now = now
        core.receivePassword(password, for: question)
        settle()
    }

    // MARK: From the network

    /// An answer to a sign of life came: a line end, or a STUN answer with the address that the server saw.
    package mutating func receiveSignOfLife(from source: TransportTarget, seen: Endpoint?, at now: Instant) {
        core.now = now
        for handle in accountOrder {
            changeRegistration(of: handle) { $0.receivePong(from: source, seen: seen, at: now, actions: &$1) }
        }
        settle()
    }

    /// The addresses of this machine changed: accounts register anew, and calls tell their far ends where we are now.
    package mutating func networkChanged(at now: Instant) {
        core.now = now
        for handle in accountOrder {
            changeRegistration(of: handle) { $0.networkChanged(at: now, actions: &$1) }
        }
        for call in calls.values where core.registrations[call.account.handle] == nil {
            call.networkChanged(core: &core)
            core.touched.insert(call.handle)
        }
        settle()
    }

    /// News of a request outside calls.
    mutating func receive(_ event: RequestEvent, of request: RequestID) {
        guard let account = core.requestOwners[request] else {
            core.output(.requestEvent(request, event))
            return
        }
        let now = core.now
        switch event {
        case .authenticationRequired(let response):
            changeRegistration(of: account) { machine, _ in machine.receiveChallenge(response) }
            core.receiveChallenge(response, of: request, account: account)
        case .provisional:
            break
        case .finished(let response, let source):
            forgetRegister(of: account)
            changeRegistration(of: account) { $0.receive(response, from: source, at: now, actions: &$1) }
        case .failed(let failure):
            forgetRegister(of: account)
            let reason = core.transportFailure
            changeRegistration(of: account) {
                $0.requestFailed(failure, reason: reason, at: now, actions: &$1)
            }
        }
    }

    /// A call between two ends has lost its connection: a re-INVITE shows whether another can be had. Where there is a
    /// registrar, its registration says when.
    mutating func findWay(of session: SessionID) {
        guard let handle = core.sessionOwners[session], let call = calls[handle],
            core.registrations[call.account.handle] == nil, call.snapshot.isUp
        else { return }
        call.loseSignaling(core: &core)
        call.change(CallMachine.Change(kind: .refresh), core: &core)
        core.touched.insert(handle)
    }

    /// News of a session whose call is over.
    mutating func receiveLate(_ event: SessionEvent, of session: SessionID) {
        guard case .authenticationRequired(let request, let response) = event,
            let account = core.endedSessions.last(where: { $0.session == session })?.account
        else { return }
        core.receiveChallenge(response, of: request, account: account)
    }

    private mutating func forgetRegister(of handle: AccountHandle) {
        guard let request = accountTasks[handle]?.register else { return }
        accountTasks[handle]?.register = nil
        core.requestOwners[request] = nil
        core.forgetChallenges { $0 == request }
    }

    // MARK: Registrations

    /// Changes a registration and does what it then wants.
    mutating func changeRegistration(
        of handle: AccountHandle,
        _ body: (inout RegistrationMachine, inout [RegistrationMachine.Action]) -> Void
    ) {
        guard var machine = core.registrations[handle] else { return }
        var actions: [RegistrationMachine.Action] = []
        body(&machine, &actions)
        core.registrations[handle] = machine
        accountDeadlines.set(machine.nextDeadline, for: handle)
        for action in actions { perform(action, of: handle) }
    }

    private mutating func perform(_ action: RegistrationMachine.Action, of handle: AccountHandle) {
        switch action {
        case .resolve(let query):
            core.output(.resolve(query, .registration(handle)))
        case .send(var request, let route):
            let credentials = core.earlyCredentials(of: handle, method: .register, uri: request.uri)
            for field in credentials.fields { request.headers.append(field.name, field.value) }
            let id = core.userAgent.request(request, route: route, at: core.now, actions: &core.actions)
            core.requestOwners[id] = handle
            accountTasks[handle, default: AccountTasks()].register = id
        case .abandon:
            if let request = accountTasks[handle]?.register { core.userAgent.forget(request) }
            forgetRegister(of: handle)
        case .changed(let status):
            core.output(.registration(handle, status))
            finishStarts(of: handle, status)
            if status.state == .failed { tellLossOfSignaling(of: handle) }
        case .moved:
            moveCalls(of: handle)
        case .ping(let target, let kind):
            core.output(.sendKeepAlive(kind.bytes(random: &core.random), to: target))
        case .stopped:
            removeAccount(handle)
        }
    }

    private mutating func finishStarts(of handle: AccountHandle, _ status: RegistrationStatus) {
        let failure: CallFailure?
        switch status.state {
        case .registered: failure = nil
        case .failed: failure = status.failure ?? CallFailure(.registrationFailed, "The registration failed.")
        case .unregistered, .registering, .unregistering: return
        }
        let tokens = accountTasks[handle]?.starts ?? []
        accountTasks[handle]?.starts = []
        for token in tokens { core.output(.finished(token, failure)) }
    }

    private mutating func tellLossOfSignaling(of handle: AccountHandle) {
        for call in calls.values where call.account.handle == handle { call.loseSignaling(core: &core) }
    }

    /// The account is reached another way: its calls tell their far ends (RFC 5626 §4.3, RFC 3261 §12.2.1).
    private mutating func moveCalls(of handle: AccountHandle) {
        guard let binding = core.registrations[handle]?.binding else { return }
        for call in calls.values where call.account.handle == handle {
            call.moved(to: binding.flow, contact: binding.callContact, core: &core)
            core.touched.insert(call.handle)
        }
    }
}
