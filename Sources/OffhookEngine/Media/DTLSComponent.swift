internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookSDP

/// The DTLS handshake of one component of a media line: RTP's, or RTCP's where it has a port of its own (RFC 5764 §4.1).
///
/// What comes before signalling has said who is client and whose certificate to expect is kept for then (RFC 5763 §5).
final class DTLSComponent {
    /// What the handshake wants done.
    enum Outcome {
        case send([UInt8])
        /// Keys are there: the context protects and unprotects from now on.
        case secured
        case failed(DTLSError)
    }

    private static let earlyLimit = 8

    let context = SRTPContext()
    private(set) var isSecured = false
    private let identity: DTLSIdentity
    private var association: DTLSAssociation?
    private var agreed: (role: SetupRole, fingerprints: Set<FingerprintAttribute>, tlsID: String?)?
    private var early: [(bytes: [UInt8], source: Endpoint, isVouchedFor: Bool)] = []
    private var actions: [DTLSAssociation.Action] = []
    private var roundTrip: Duration?

    init(identity: DTLSIdentity) {
        self.identity = identity
    }

    /// Takes what was agreed, and the address that signalling told. The same role and certificate as before change
    /// nothing, unless the far end names another association (RFC 8842 §4).
    func agree(
        role: SetupRole, remote: DTLSDescription, with address: Endpoint?, at now: Instant, outcomes: inout [Outcome]
    ) {
        let former = agreed
        agreed = (role, Set(remote.fingerprints), remote.tlsID ?? former?.tlsID)
        if let former, former.role == role, former.fingerprints == agreed?.fingerprints,
            former.tlsID == nil || former.tlsID == agreed?.tlsID
        {
            return
        }
        isSecured = false
        let fingerprints = remote.fingerprints.compactMap { attribute in
            CertificateFingerprint(algorithm: attribute.hash, value: attribute.valueText)
        }
        do throws(DTLSError) {
            let association = try DTLSAssociation(
                role: role == .active ? .client : .server, identity: identity, remoteFingerprints: fingerprints)
            self.association = association
            association.start(at: now, actions: &actions)
            if let roundTrip { association.pathFound(roundTrip: roundTrip, at: now) }
            for datagram in early where datagram.isVouchedFor || datagram.source.port == address?.port {
                association.receive(datagram.bytes.span.bytes, at: now, actions: &actions)
            }
            early = []
        } catch {
            outcomes.append(.failed(error))
        }
        take(&outcomes)
    }

    /// Takes a datagram from the far end's port as signalling told it, or from one that ICE vouches for. Others are dropped
    /// until the handshake is complete: nothing in it is authenticated, so that the record of a stranger, who knows nothing
    /// of the call, would end it, where RFC 6347 §4.1.2.7 wants it discarded. The port is what is looked at since a host with
    /// several addresses may send from another of them (linphone 5.1 does).
    func receive(
        _ datagram: RawSpan, from source: Endpoint, expected address: Endpoint?, isVouchedFor: Bool, at now: Instant,
        outcomes: inout [Outcome]
    ) {
        guard let association else {
            guard early.count < Self.earlyLimit else { return }
            early.append((datagram.withUnsafeBytes { Array($0) }, source, isVouchedFor))
            return
        }
        guard association.isEstablished || isVouchedFor || source.port == address?.port else { return }
        association.receive(datagram, at: now, actions: &actions)
        take(&outcomes)
    }

    /// ICE has found a way, which takes a check and its answer so long.
    func pathFound(roundTrip: Duration, at now: Instant) {
        self.roundTrip = roundTrip
        association?.pathFound(roundTrip: roundTrip, at: now)
    }

    var nextDeadline: Instant? { association?.nextDeadline }

    func handle(timeoutAt now: Instant, outcomes: inout [Outcome]) {
        association?.handle(timeoutAt: now, actions: &actions)
        take(&outcomes)
    }

    func close(outcomes: inout [Outcome]) {
        association?.close(actions: &actions)
        take(&outcomes)
    }

    private func take(_ outcomes: inout [Outcome]) {
        for action in actions {
            switch action {
            case .send(let bytes): outcomes.append(.send(bytes))
            case .established(let outbound, let inbound):
                do throws(SRTPError) {
                    try context.setOutboundKeys(outbound)
                    try context.setInboundKeys(inbound)
                    isSecured = true
                    outcomes.append(.secured)
                } catch {
                    outcomes.append(.failed(.unavailable))
                }
            case .failed(let error): outcomes.append(.failed(error))
            case .closed: isSecured = false
            }
        }
        actions.removeAll(keepingCapacity: true)
    }
}

extension FingerprintAttribute {
    /// The hash's bytes as they stand in the attribute.
    fileprivate var valueText: Substring {
        text.drop { $0 != " " }.dropFirst()
    }
}
