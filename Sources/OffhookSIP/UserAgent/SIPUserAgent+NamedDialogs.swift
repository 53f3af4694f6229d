/// INVITEs that name another dialog of ours: to take its place (RFC 3891), or to be taken into it (RFC 3911).
extension SIPUserAgent {
    enum NamedDialog {
        case none
        case replaces(SessionID)
        case joins(SessionID)
        case refuse(Int)
    }

    func sessionNamed(by request: SIPRequest) -> NamedDialog {
        let replaces = request.headers.all(.replaces)
        let joins = request.headers.all(Self.join)
        // One of the two, once (RFC 3891 §3, RFC 3911 §4).
        guard replaces.count + joins.count <= 1 else { return .refuse(400) }
        if let value = replaces.first { return sessionReplaced(by: Replaces(parsing: value)) }
        if let value = joins.first { return sessionJoined(by: Replaces(parsing: value)) }
        return .none
    }

    private static let join: SIPHeaderName = "Join"

    private func session(named dialog: Replaces) -> (SessionID, InviteSession)? {
        // To and From as we see the dialog (RFC 3891 §3).
        let dialog = DialogID(callID: dialog.callID, localTag: dialog.toTag, remoteTag: dialog.fromTag)
        guard let id = sessionsByDialog[dialog], let session = sessions[id]?.session else { return nil }
        return (id, session)
    }

    private func sessionReplaced(by dialog: Replaces?) -> NamedDialog {
        guard let dialog else { return .refuse(400) }
        guard let (id, session) = session(named: dialog) else { return .refuse(481) }
        switch session.state {
        case .established: return dialog.isEarlyOnly ? .refuse(486) : .replaces(id)
        case .calling: return .replaces(id)
        // An early dialog that the far end began cannot be replaced.
        case .ringing: return .refuse(481)
        case .cancelling, .closing, .closed: return .refuse(603)
        }
    }

    private func sessionJoined(by dialog: Replaces?) -> NamedDialog {
        guard let dialog else { return .refuse(400) }
        guard let (id, session) = session(named: dialog) else { return .refuse(481) }
        switch session.state {
        case .established: return .joins(id)
        // Before it is answered there is nobody to be joined with.
        case .calling, .ringing: return .refuse(481)
        case .cancelling, .closing, .closed: return .refuse(603)
        }
    }
}
