// Seeds: Tests/OffhookRTPTests/Fixtures
import OffhookBasics
import OffhookRTP

/// No stream of packets upsets a session: the input is cut into packets by a length byte before each.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    var pool = PacketPool()
    var actions: [RTPSession.Action] = []
    let clock = NTPClock(NTPTimestamp(rawValue: 1 << 60), at: .zero)
    let audio = RTPSession(
        configuration: RTPSession.Configuration(kind: .audio, canonicalName: "fuzz", seed: 1, clock: clock))
    audio.setReceivePayloads([
        PayloadFormat(payloadType: 96, codec: .opus, clockRate: 48000),
        PayloadFormat(payloadType: 0, codec: .pcmu, clockRate: 8000),
        PayloadFormat(payloadType: 101, codec: .telephoneEvent, clockRate: 8000),
    ])
    let video = RTPSession(
        configuration: RTPSession.Configuration(kind: .video, canonicalName: "fuzz", seed: 2, clock: clock))
    video.setReceivePayloads([
        PayloadFormat(payloadType: 97, codec: .vp8, clockRate: 90000),
        PayloadFormat(payloadType: 98, codec: .retransmission(of: 97), clockRate: 90000),
    ])
    for session in [audio, video] {
        session.setDirections(sends: false, receives: true, at: .zero, pool: &pool, actions: &actions)
    }
    var offset = 0
    var now = Instant.zero
    while offset < count {
        let length = min(Int(bytes[offset]) + 1, count - offset - 1)
        let content = Array(bytes[(offset + 1)..<(offset + 1 + max(length, 0))])
        offset += 1 + max(length, 0)
        now = now + .milliseconds(10)
        for session in [audio, video] {
            let packet = pool.take()
            packet.assign(content)
            if case .rtp = PacketKind(classifying: packet.bytes) {
                session.receiveRTP(packet, at: now, pool: &pool, actions: &actions)
            } else {
                pool.give(packet)
            }
            if let deadline = session.nextDeadline, deadline <= now {
                session.handle(timeoutAt: now, pool: &pool, actions: &actions)
            }
        }
        _ = audio.nextAudio(at: now, pool: &pool)
        actions.removeAll()
    }
    return 0
}
