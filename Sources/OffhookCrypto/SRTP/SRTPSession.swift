internal import CSRTP
internal import OffhookBasics

/// Owns one libsrtp session: one direction under one master key.
final class SRTPSession {
    let keys: SRTPKeys
    private let session: srtp_t
    private let usesMasterKeyIdentifier: UInt32

    /// Packets that may be late and still be told from replays; a burst of a key frame is some hundreds.
    private static let replayWindow: UInt = 1024

    /// The library's process-wide start, done once however many threads ask for it. Where other code of the process has
    /// started it already the library answers with an error and works all the same, so `srtp_create` is what tells.
    private static let libraryStart = srtp_init()

    init(keys: SRTPKeys, direction: srtp_ssrc_type_t) throws(SRTPError) {
        _ = Self.libraryStart
        var policy = srtp_policy_t()
        keys.suite.setPolicies(rtp: &policy.rtp, rtcp: &policy.rtcp)
        policy.ssrc.type = direction
        policy.window_size = Self.replayWindow
        policy.allow_repeat_tx = 1
        var key = keys.keyAndSalt
        var identifier = keys.masterKeyIdentifier
        var created: srtp_t?
        // libsrtp copies key and identifier; the pointers need to live through the call alone.
        let status = key.withUnsafeMutableBufferPointer { key in
            identifier.withUnsafeMutableBufferPointer { identifier in
                guard !identifier.isEmpty else {
                    policy.key = key.baseAddress
                    return srtp_create(&created, &policy)
                }
                var master = srtp_master_key_t(
                    key: key.baseAddress, mki_id: identifier.baseAddress, mki_size: UInt32(identifier.count))
                return withUnsafeMutablePointer(to: &master) { master in
                    var list: UnsafeMutablePointer<srtp_master_key_t>? = master
                    return withUnsafeMutablePointer(to: &list) { list in
                        policy.keys = list
                        policy.num_master_keys = 1
                        return srtp_create(&created, &policy)
                    }
                }
            }
        }
        guard status == srtp_err_status_ok, let created else { throw .unavailable }
        self.keys = keys
        session = created
        usesMasterKeyIdentifier = keys.masterKeyIdentifier.isEmpty ? 0 : 1
    }

    deinit {
        srtp_dealloc(session)
    }

    func protectRTP(_ packet: PacketBuffer) throws(SRTPError) {
        guard packet.count >= 12 else { throw .malformed }
        try run(packet, growth: keys.suite.tagLength) { [usesMasterKeyIdentifier] session, bytes, count in
            srtp_protect_mki(session, bytes, count, usesMasterKeyIdentifier, 0)
        }
    }

    func protectRTCP(_ packet: PacketBuffer) throws(SRTPError) {
        guard packet.count >= 8 else { throw .malformed }
        // The index is four bytes, the tag at most sixteen.
        try run(packet, growth: 4 + 16) { [usesMasterKeyIdentifier] session, bytes, count in
            srtp_protect_rtcp_mki(session, bytes, count, usesMasterKeyIdentifier, 0)
        }
    }

    func unprotectRTP(_ packet: PacketBuffer) throws(SRTPError) {
        guard packet.count >= 12 else { throw .malformed }
        try run(packet, growth: 0) { [usesMasterKeyIdentifier] session, bytes, count in
            srtp_unprotect_mki(session, bytes, count, usesMasterKeyIdentifier)
        }
    }

    func unprotectRTCP(_ packet: PacketBuffer) throws(SRTPError) {
        guard packet.count >= 8 else { throw .malformed }
        try run(packet, growth: 0) { [usesMasterKeyIdentifier] session, bytes, count in
            srtp_unprotect_rtcp_mki(session, bytes, count, usesMasterKeyIdentifier)
        }
    }

    private func run(
        _ packet: PacketBuffer, growth: Int,
        _ body: (srtp_t, UnsafeMutableRawPointer, UnsafeMutablePointer<Int32>) -> srtp_err_status_t
    ) throws(SRTPError) {
        let before = packet.count
        guard before + growth + keys.masterKeyIdentifier.count <= PacketBuffer.capacity else { throw .noRoom }
        try packet.withWholeBuffer { (buffer) throws(SRTPError) in
            var count = Int32(before)
            // A packet buffer is never empty, so a base address exists.
            let status = body(session, buffer.baseAddress!, &count)
            if let error = SRTPError(status) { throw error }
            return Int(count)
        }
    }
}

extension SRTPError {
    fileprivate init?(_ status: srtp_err_status_t) {
        switch status {
        case srtp_err_status_ok: return nil
        case srtp_err_status_auth_fail, srtp_err_status_cipher_fail, srtp_err_status_no_ctx:
            self = .authenticationFailed
        case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: self = .replayed
        case srtp_err_status_key_expired: self = .keyExpired
        case srtp_err_status_bad_mki: self = .unknownMasterKey
        default: self = .malformed
        }
    }
}
