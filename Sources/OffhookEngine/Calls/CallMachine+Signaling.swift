internal import OffhookBasics
internal import OffhookSIP

/// The way to the far end: lost, found again, and moved elsewhere.
extension CallMachine {
    /// The way to the account's server is lost. The call lives on: media needs no server.
    func loseSignaling(core: inout EngineCore) {
        guard snapshot.isUp, !hasLostSignaling else { return }
        hasLostSignaling = true
        tell(.signalingLost, core: &core)
    }

    /// A change went through: the way to the far end is there again.
    func recoverSignaling(core: inout EngineCore) {
        guard hasLostSignaling else { return }
        hasLostSignaling = false
        tell(.signalingRecovered, core: &core)
    }

    /// Our side is reached another way now: the far end is told by a re-INVITE (RFC 3261 §12.2.1).
    func moved(to route: TransportRoute, contact: NameAddress?, core: inout EngineCore) {
        guard let session else { return }
        core.userAgent.setContact(contact, of: session)
        if route.target.transport.isWebSocket {
            // Nobody can connect to a browser-like end, or through one: everything goes along the flow (RFC 7118 §5).
            core.userAgent.reroute(session, to: route)
        } else {
            core.userAgent.forgetRoute(of: session)
        }
        let isElsewhere = localAddress != route.local.address
        localAddress = route.local.address
        guard snapshot.isUp else { return }
        if isElsewhere, let connectivity = media.connectivity { connectivity.restart(core: &core) }
        change(Change(kind: .refresh), core: &core)
    }

    /// The addresses of this machine changed, and no registrar tells us how we are reached.
    func networkChanged(core: inout EngineCore) {
        guard snapshot.isUp, let session else { return }
        core.userAgent.forgetRoute(of: session)
        let target = core.userAgent.remoteTarget(of: session)?.sip ?? self.target.sip
        if let target { core.output(.resolve(ResolveQuery(to: target), .call(handle))) }
    }
}
