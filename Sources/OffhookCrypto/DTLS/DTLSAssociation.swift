internal import COpenSSL
package import OffhookBasics

/// One DTLS handshake that agrees on SRTP keys (RFC 5763, RFC 5764): datagrams and instants in, datagrams and keys out.
///
/// It belongs to one thread. After each call look at ``nextDeadline`` again. It goes on answering repeated datagrams
/// after the keys are there, since the far end may have missed our last ones.
package final class DTLSAssociation {
    /// Which end says hello first: the one that is `setup:active` (RFC 5763 §5).
    package enum Role: Hashable, Sendable {
        case client
        case server
    }

    /// What is to be done.
    package enum Action: Hashable, Sendable {
        /// Send a datagram to where the far end's come from.
        case send([UInt8])
        /// The handshake is complete and the certificate is the right one.
        case established(outbound: SRTPKeys, inbound: SRTPKeys)
        /// There will be no keys. Said once, and the last action but for alerts that go out.
        case failed(DTLSError)
        /// The far end has closed the association; its SRTP keys are void.
        case closed
    }

    private enum State {
        case idle
        /// `repeatAt` is nil while nothing is out that waits for an answer.
        case handshaking(giveUpAt: Instant, repeatAt: Instant?)
        /// The handshake is complete, but signalling has not told yet whose certificate to expect.
        case awaitingFingerprints(giveUpAt: Instant)
        case established
        case over
    }

    /// The bytes of a datagram that the handshake may fill: what goes through any tunnel.
    package static let maximumDatagramSize = 1200

    private static let handshakeLimit = Duration.seconds(30)
    /// RFC 9147 §5.8.2 on DTLS-SRTP: where nothing is known of the path, and half as much again as its round trip, where
    /// that is known.
    private static let unknownInterval = Duration.milliseconds(400)
    /// Busy machines take so long to answer.
    private static let shortestInterval = Duration.milliseconds(100)
    /// OpenSSL gives up after twelve repetitions of one flight: they last for the time of the handshake, or for more than
    /// half of it where a working way makes each of them likely to arrive.
    private static let longestUnknownInterval = Duration.seconds(4)
    private static let longestKnownInterval = Duration.seconds(2)

    package let role: Role
    private var state = State.idle
    private var firstInterval = DTLSAssociation.unknownInterval
    private var longestInterval = DTLSAssociation.longestUnknownInterval
    private var interval = DTLSAssociation.unknownInterval
    private var flightsSeen = 0
    private var fingerprints: [CertificateFingerprint]
    private let identity: DTLSIdentity
    private let connection: OpaquePointer
    private let datagrams = DatagramBIO()

    /// Makes one end of an association.
    ///
    /// - Parameter remoteFingerprints: What signalling vouches for. Where it has not come yet, the list is empty and
    ///   ``setRemoteFingerprints(_:actions:)`` follows.
    package init(
        role: Role, identity: DTLSIdentity, remoteFingerprints: [CertificateFingerprint]
    ) throws(DTLSError) {
        guard let connection = SSL_new(identity.context) else { throw .unavailable }
        self.role = role
        self.identity = identity
        self.connection = connection
        fingerprints = remoteFingerprints
        let mtu = Int(Self.maximumDatagramSize)
        guard SSL_ctrl(connection, SSL_CTRL_SET_MTU, mtu, nil) == mtu, datagrams.attach(to: connection) else {
            throw .unavailable
        }
        if role == .client { SSL_set_connect_state(connection) } else { SSL_set_accept_state(connection) }
    }

    deinit {
        SSL_free(connection)
    }

    /// Whether keys have been agreed on and are still good.
    package var isEstablished: Bool {
        if case .established = state { true } else { false }
    }

    /// When ``handle(timeoutAt:actions:)`` should next be called, if ever.
    package var nextDeadline: Instant? {
        switch state {
        case .handshaking(let giveUpAt, let repeatAt): repeatAt.map { min($0, giveUpAt) } ?? giveUpAt
        case .awaitingFingerprints(let giveUpAt): giveUpAt
        case .idle, .established, .over: nil
        }
    }

    /// Begins: the client says hello, the server waits for it.
    package func start(at now: Instant, actions: inout [Action]) {
        guard case .idle = state else { return }
        state = .handshaking(giveUpAt: now + Self.handshakeLimit, repeatAt: nil)
        proceed(at: now, actions: &actions)
    }

    /// There is a way to the far end, which takes a check and its answer so long. What was sent before went nowhere, so that
    /// repetition begins anew.
    package func pathFound(roundTrip: Duration, at now: Instant) {
        longestInterval = Self.longestKnownInterval
        firstInterval = min(longestInterval, max(Self.shortestInterval, roundTrip * 3 / 2))
        guard case .handshaking(let giveUpAt, .some) = state else { return }
        interval = firstInterval
        datagrams.setInterval(microseconds: interval.inNanoseconds / 1000)
        state = .handshaking(giveUpAt: giveUpAt, repeatAt: now + interval)
    }

    /// Takes a datagram whose first byte says DTLS (RFC 7983): 20 to 63. An empty one, which OpenSSL would take for the end
    /// of all, is none.
    package func receive(_ datagram: RawSpan, at now: Instant, actions: inout [Action]) {
        let bytes = datagram.withUnsafeBytes { Array($0) }
        guard !bytes.isEmpty else { return }
        switch state {
        case .idle, .over: return
        case .handshaking:
            datagrams.feed(bytes) { proceed(at: now, actions: &actions) }
        case .awaitingFingerprints, .established:
            datagrams.feed(bytes) { readOn(actions: &actions) }
        }
    }

    /// Tells whose certificate to expect, where that was not known from the start.
    package func setRemoteFingerprints(_ fingerprints: [CertificateFingerprint], actions: inout [Action]) {
        self.fingerprints = fingerprints
        if case .awaitingFingerprints = state { establish(actions: &actions) }
    }

    package func handle(timeoutAt now: Instant, actions: inout [Action]) {
        guard let nextDeadline, now >= nextDeadline else { return }
        guard case .handshaking(let giveUpAt, _) = state, now < giveUpAt else {
            return fail(.timedOut, actions: &actions)
        }
        interval = min(interval * 2, longestInterval)
        datagrams.setInterval(microseconds: interval.inNanoseconds / 1000)
        datagrams.expireTimer()
        ERR_clear_error()
        let status = SSL_ctrl(connection, DTLS_CTRL_HANDLE_TIMEOUT, 0, nil)
        sendWritten(&actions)
        if status < 0 { return fail(.timedOut, actions: &actions) }
        state = .handshaking(giveUpAt: giveUpAt, repeatAt: now + interval)
    }

    /// Tells the far end that this is over.
    package func close(actions: inout [Action]) {
        if case .established = state {
            SSL_shutdown(connection)
            sendWritten(&actions)
        }
        state = .over
    }

    // MARK: The handshake

    private func proceed(at now: Instant, actions: inout [Action]) {
        guard case .handshaking(let giveUpAt, let repeatAt) = state else { return }
        ERR_clear_error()
        let status = SSL_do_handshake(connection)
        sendWritten(&actions)
        if status == 1 {
            state = .awaitingFingerprints(giveUpAt: giveUpAt)
            if !fingerprints.isEmpty { establish(actions: &actions) }
            return
        }
        guard SSL_get_error(connection, status) == SSL_ERROR_WANT_READ else {
            return fail(.handshakeFailed(Self.reason()), actions: &actions)
        }
        if datagrams.timedFlights != flightsSeen {
            flightsSeen = datagrams.timedFlights
            interval = firstInterval
            datagrams.setInterval(microseconds: interval.inNanoseconds / 1000)
            state = .handshaking(giveUpAt: giveUpAt, repeatAt: now + interval)
        } else {
            state = .handshaking(giveUpAt: giveUpAt, repeatAt: datagrams.isTimerRunning ? repeatAt : nil)
        }
    }

    private func establish(actions: inout [Action]) {
        guard let certificate = SSL_get1_peer_certificate(connection) else {
            return fail(.fingerprintMismatch, actions: &actions)
        }
        defer { X509_free(certificate) }
        guard CertificateFingerprint.matches(fingerprints, certificate: DTLSIdentity.encoded(certificate)) else {
            return fail(.fingerprintMismatch, actions: &actions)
        }
        guard let keys = exportKeys() else { return fail(.noCommonProfile, actions: &actions) }
        state = .established
        actions.append(
            role == .client
                ? .established(outbound: keys.client, inbound: keys.server)
                : .established(outbound: keys.server, inbound: keys.client))
    }

    /// What comes after the handshake: repeated datagrams of it, which OpenSSL answers, and alerts.
    private func readOn(actions: inout [Action]) {
        ERR_clear_error()
        var scratch = [UInt8](repeating: 0, count: 2048)
        var status: Int32
        repeat {
            // DTLS carries no data here (RFC 5764 §3): what comes all the same is dropped.
            status = SSL_read(connection, &scratch, Int32(scratch.count))
        } while status > 0
        sendWritten(&actions)
        switch SSL_get_error(connection, status) {
        case SSL_ERROR_WANT_READ: break
        default:
            state = .over
            actions.append(.closed)
        }
    }

    private func sendWritten(_ actions: inout [Action]) {
        for datagram in datagrams.takeWritten() { actions.append(.send(datagram)) }
    }

    private func fail(_ error: DTLSError, actions: inout [Action]) {
        state = .over
        if error != .timedOut {
            SSL_shutdown(connection)
            sendWritten(&actions)
        }
        actions.append(.failed(error))
    }

    // MARK: Keys

    /// RFC 5764 §4.2: both keys, then both salts.
    private func exportKeys() -> (client: SRTPKeys, server: SRTPKeys)? {
        guard let number = SSL_get_selected_srtp_profile(connection)?.pointee.id,
            let suite = SRTPSuite.allCases.first(where: { $0.dtlsProfile?.number == number })
        else { return nil }
        let label = "EXTRACTOR-dtls_srtp"
        var material = [UInt8](repeating: 0, count: 2 * suite.keyAndSaltLength)
        guard
            SSL_export_keying_material(
                connection, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return nil }
        func keys(_ index: Int) -> SRTPKeys? {
            let key = material.dropFirst(index * suite.keyLength).prefix(suite.keyLength)
            let salt = material.dropFirst(2 * suite.keyLength + index * suite.saltLength).prefix(suite.saltLength)
            return SRTPKeys(suite: suite, keyAndSalt: Array(key + salt))
        }
        guard let client = keys(0), let server = keys(1) else { return nil }
        return (client, server)
    }

    /// OpenSSL's words for what went wrong last.
    private static func reason() -> String {
        let code = ERR_peek_last_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return "the connection was closed" }
        return String(cString: text)
    }
}
