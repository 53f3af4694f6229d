internal import OffhookSDP

/// Candidates told beside the descriptions (RFC 8840).
extension CallMedia {
    /// All that there is to tell of the transports in use; nil while there is none with ICE.
    func localCandidates(of media: [NegotiatedMedia]) -> TrickleFragment? {
        guard let connectivity else { return nil }
        let streams = media.compactMap { agreed -> TrickleFragment.Stream? in
            guard agreed.isEnabled, agreed.transportIndex == agreed.index, let line = owner(of: agreed),
                let ice = connectivity.description(of: line.ownTransport.ports)
            else { return nil }
            return TrickleFragment.Stream(
                mid: agreed.mid, userFragment: ice.userFragment, password: ice.password, candidates: ice.candidates,
                isComplete: ice.isComplete)
        }
        return streams.isEmpty ? nil : TrickleFragment(streams: streams)
    }

    /// Takes the far end's; a stream is told by its `mid`, or where there is none by its place.
    func addCandidates(_ fragment: TrickleFragment, of media: [NegotiatedMedia], core: inout EngineCore) {
        for (place, stream) in fragment.streams.enumerated() {
            let agreed =
                stream.mid.map { mid in media.first { $0.mid == mid } } ?? media.first { $0.index == place }
            guard let agreed, agreed.isEnabled, let line = owner(of: agreed) else { continue }
            connectivity?.add(stream, to: line.ownTransport.ports, core: &core)
        }
        sendWaiting(core: &core)
    }

    /// The line whose transport it is.
    private func owner(of media: NegotiatedMedia) -> MediaLine? {
        switch media.transportKind {
        case .audio: audio
        case .video: video
        case nil: nil
        }
    }
}
