internal import CCares
internal import CLinux
internal import Glibc
internal import OffhookBasics

/// The name system through c-ares, on an event loop. It belongs to the loop's thread.
final class NameChannel {
    private typealias Completion = (ServerSearch.Answer) -> Void

    /// What a question's C callback gets.
    private final class Question {
        let channel: NameChannel
        let lookUp: ServerSearch.LookUp
        let completion: Completion

        init(_ channel: NameChannel, _ lookUp: ServerSearch.LookUp, _ completion: @escaping Completion) {
            self.channel = channel
            self.lookUp = lookUp
            self.completion = completion
        }

        func finish(_ status: Int32, _ read: () -> ServerSearch.Answer) {
            channel.answer(
                completion, status == cares_success ? read() : .failed(NameChannel.failure(status, about: lookUp)))
        }
    }

    private let loop: EventLoop
    private var handle: ares_channel?
    private var sockets: [Int32: NameSocket] = [:]
    private var timer: LoopTimer?

    private static let libraryStatus = ares_library_init(ARES_LIB_INIT_ALL)

    init(on loop: EventLoop, servers: [Endpoint], timeout: Duration, attempts: Int) throws(IOError) {
        self.loop = loop
        var options = ares_options()
        options.timeout = Int32(clamping: timeout.inNanoseconds / 1_000_000)
        options.tries = Int32(clamping: max(1, attempts))
        options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
        options.sock_state_cb = { user, descriptor, readable, writable in
            guard let user else { return }
            let channel = Unmanaged<NameChannel>.fromOpaque(user).takeUnretainedValue()
            channel.watch(descriptor, readable: readable != 0, writable: writable != 0)
        }
        let mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB
        guard Self.libraryStatus == cares_success, ares_init_options(&handle, &options, mask) == cares_success
        else { throw IOError(.configuration, reason: "The name system cannot be set up; check /etc/resolv.conf.") }
        guard !servers.isEmpty else { return }
        let list = servers.map { "\($0)" }.joined(separator: ",")
        guard ares_set_servers_ports_csv(handle, list) == cares_success else {
            ares_destroy(handle)
            handle = nil
            throw IOError(.configuration, reason: "The name servers \(list) cannot be used.")
        }
    }

    deinit {
        // No question is open, or it would hold this; so c-ares has no socket and calls nothing back.
        if let handle { ares_destroy(handle) }
    }

    /// Asks; the completion is called later, never from inside this call.
    func ask(_ lookUp: ServerSearch.LookUp, completion: @escaping (ServerSearch.Answer) -> Void) {
        guard let handle else { return answer(completion, .failed(Self.closed)) }
        let question = Unmanaged.passRetained(Question(self, lookUp, completion)).toOpaque()
        switch lookUp {
        case .naptr(let name):
            ares_query(
                handle, name, Int32(ns_c_in.rawValue), Int32(ns_t_naptr.rawValue), Self.recordsCallback, question)
        case .srv(let name):
            ares_query(handle, name, Int32(ns_c_in.rawValue), Int32(ns_t_srv.rawValue), Self.recordsCallback, question)
        case .addresses(let name):
            var hints = ares_addrinfo_hints()
            hints.ai_family = AF_UNSPEC
            ares_getaddrinfo(handle, name, nil, &hints, Self.addressesCallback, question)
        }
        armTimer()
    }

    /// Fails what is open. Doing it twice is harmless.
    func close() {
        guard let handle else { return }
        self.handle = nil
        timer?.disarm()
        timer = nil
        ares_destroy(handle)
    }

    // MARK: C callbacks

    private static let recordsCallback: ares_callback = { user, status, _, bytes, count in
        guard let question = NameChannel.question(user) else { return }
        question.finish(status) {
            switch question.lookUp {
            case .naptr: .naptr(NameRecords.naptr(bytes, count))
            case .srv: .srv(NameRecords.srv(bytes, count))
            case .addresses: .addresses([])
            }
        }
    }

    private static let addressesCallback: ares_addrinfo_callback = { user, status, _, list in
        guard let question = NameChannel.question(user) else { return }
        question.finish(status) { .addresses(NameRecords.addresses(list)) }
        ares_freeaddrinfo(list)
    }

    private static func question(_ user: UnsafeMutableRawPointer?) -> Question? {
        user.map { Unmanaged<Question>.fromOpaque($0).takeRetainedValue() }
    }

    // MARK: Sockets and time

    private func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
        var interest: Interest = []
        if readable { interest.insert(.read) }
        if writable { interest.insert(.write) }
        if let socket = sockets[descriptor] {
            guard interest.isEmpty else { return loop.update(socket.id, descriptor: descriptor, interest: interest) }
            loop.remove(socket.id, descriptor: descriptor)
            sockets[descriptor] = nil
        } else if !interest.isEmpty {
            let socket = NameSocket(self, descriptor)
            // Where the loop has no room for it, the question runs into its time limit.
            guard let id = try? loop.add(socket, descriptor: descriptor, interest: interest) else { return }
            socket.id = id
            sockets[descriptor] = socket
        }
    }

    fileprivate func process(_ descriptor: Int32, _ events: Interest) {
        guard let handle else { return }
        // An error is found by reading.
        let canRead = events.contains(.read) || !events.isDisjoint(with: [.error, .hangUp])
        ares_process_fd(handle, canRead ? descriptor : -1, events.contains(.write) ? descriptor : -1)
        armTimer()
    }

    private func armTimer() {
        guard let handle else { return }
        var room = timeval()
        guard let time = ares_timeout(handle, nil, &room) else {
            timer?.disarm()
            return
        }
        let delay = Duration.seconds(time.pointee.tv_sec) + .microseconds(time.pointee.tv_usec)
        let timer = timer ?? loop.makeTimer { [weak self] in self?.process(-1, []) }
        self.timer = timer
        timer.arm(at: loop.now + delay)
    }

    private func answer(_ completion: @escaping Completion, _ answer: ServerSearch.Answer) {
        loop.schedule(at: .zero) { completion(answer) }
    }

    fileprivate func loopDidEnd() {
        sockets.removeAll()
        close()
    }

    private static let closed = IOError(.closed, reason: "The name resolver was closed.")

    /// Why a question failed, in our words.
    private static func failure(_ status: Int32, about lookUp: ServerSearch.LookUp) -> IOError {
        let name =
            switch lookUp {
            case .naptr(let name), .srv(let name), .addresses(let name): name
            }
        switch status {
        case cares_not_found, cares_no_data: return .noAddress(of: name)
        case cares_bad_name: return IOError(.configuration, reason: "\(name) is not a host name; check its spelling.")
        case cares_timeout, cares_refused:
            return IOError(
                .nameServerFailed,
                reason:
                    "No name server answered when asked for \(name); check this machine's network and /etc/resolv.conf."
            )
        case cares_destruction, cares_cancelled: return closed
        default:
            return IOError(
                .nameServerFailed,
                reason: "The name server has no answer for \(name): \(String(cString: ares_strerror(status))).")
        }
    }
}

/// A socket of c-ares in the loop's table; c-ares opens and closes it.
private final class NameSocket: LoopSource {
    var id = SourceID(rawValue: .max)
    private weak var channel: NameChannel?
    private let descriptor: Int32

    init(_ channel: NameChannel, _ descriptor: Int32) {
        self.channel = channel
        self.descriptor = descriptor
    }

    func loopDidSignal(_ events: Interest) {
        channel?.process(descriptor, events)
    }

    func loopDidEnd() {
        channel?.loopDidEnd()
    }
}
