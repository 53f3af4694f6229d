// Seeds: Tests/OffhookRTPTests/Fixtures
import OffhookBasics
import OffhookRTP

/// No compound packet upsets the parser or a session that sends and receives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTCP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count).bytes
    var packets: [RTCPPacket] = []
    try? RTCPPacket.parse(bytes, into: &packets)
    guard packets.count <= count else { fatalError("more packets than bytes") }
    let session = RTPSession(
        configuration: RTPSession.Configuration(
            kind: .video, canonicalName: "fuzz", seed: 1, clock: NTPClock(NTPTimestamp(rawValue: 1 << 60), at: .zero)))
    var pool = PacketPool()
    var actions: [RTPSession.Action] = []
    session.setSendPayloads([PayloadFormat(payloadType: 97, codec: .vp8, clockRate: 90000)])
    session.setDirections(sends: true, receives: true, at: .zero, pool: &pool, actions: &actions)
    let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0]
    session.sendVideoFrame(
        frame.span.bytes, isKeyFrame: true, captureTime: .zero, at: .zero, pool: &pool, actions: &actions)
    session.receiveRTCP(bytes, at: .zero + .milliseconds(1), pool: &pool, actions: &actions)
    for _ in 0..<20 {
        guard let deadline = session.nextDeadline else { break }
        session.handle(timeoutAt: deadline, pool: &pool, actions: &actions)
    }
    return 0
}
