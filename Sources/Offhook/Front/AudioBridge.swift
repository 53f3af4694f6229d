internal import OffhookMedia

/// Which calls hear each other beside us, and what is on its way to each of them.
///
/// To the far end of a joined call goes the sum of our microphone and of what the other calls bring.
struct AudioBridge: Sendable {
    /// Whom a far end hears.
    private enum Source: Hashable, Sendable {
        case microphone
        case call(Call.ID)
    }

    /// Each call's partners; both ways.
    private var partners: [Call.ID: Set<Call.ID>] = [:]
    private var mixers: [Call.ID: AudioMixer<Source>] = [:]

    /// Joins two calls, and with them those that either is joined with already.
    mutating func join(_ first: Call.ID, _ second: Call.ID) {
        let all = partners[first, default: []].union(partners[second, default: []]).union([first, second])
        for call in all {
            partners[call] = all.subtracting([call])
            mixers[call] = AudioMixer()
        }
    }

    mutating func leave(_ call: Call.ID) {
        mixers[call] = nil
        for other in partners.removeValue(forKey: call) ?? [] {
            partners[other]?.remove(call)
            mixers[other] = AudioMixer()
            if partners[other]?.isEmpty == true {
                partners[other] = nil
                mixers[other] = nil
            }
        }
    }

    func partners(of call: Call.ID) -> Set<Call.ID> { partners[call] ?? [] }

    /// What goes to a call's far end now that the microphone has brought this; nil where it waits for the others.
    mutating func mixMicrophone(_ frame: AudioFrame, to call: Call.ID) -> AudioFrame? {
        guard partners[call] != nil else { return frame }
        return mixers[call, default: AudioMixer()].mix(frame, of: .microphone)
    }

    /// The same for what another call has brought.
    mutating func mix(_ frame: AudioFrame, of source: Call.ID, to call: Call.ID) -> AudioFrame? {
        mixers[call, default: AudioMixer()].mix(frame, of: .call(source))
    }
}
