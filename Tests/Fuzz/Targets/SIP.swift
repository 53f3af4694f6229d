// Seeds: Tests/OffhookSIPTests/Fixtures
import OffhookBasics
import OffhookSIP

/// What parses prints, and parses to the same again; the framing of streams gives messages and ends; no typed header
/// and no user agent falls over.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSIP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let message = try? SIPMessage(parsing: bytes) {
        guard let again = try? SIPMessage(parsing: message.write()), again == message else {
            fatalError("it does not read back as what it was")
        }
        touch(message.headers)
    }
    var framer = SIPStreamFramer()
    framer.receive(bytes)
    var outputs = 0
    while outputs <= count, (try? framer.next()) != nil { outputs += 1 }
    guard outputs <= count else { fatalError("more messages than bytes") }

    var agent = SIPUserAgent(seed: 1)
    var actions: [UserAgentAction] = []
    let peer = Endpoint(IPAddress(version4: 0xC000_0202), 5060)
    let local = Endpoint(IPAddress(version4: 0xC000_0201), 5060)
    agent.receive(
        bytes, from: TransportTarget(transport: .udp, remote: peer), local: local, at: .zero, actions: &actions)
    for _ in 0..<100 {
        guard let deadline = agent.nextDeadline() else { break }
        agent.handle(timeoutAt: deadline, actions: &actions)
    }
    return 0
}

private func touch(_ headers: SIPHeaders) {
    _ = (headers.vias, headers.from, headers.to, headers.cseq, headers.contacts, headers.route, headers.recordRoute)
    _ = (headers.expires, headers.rack, headers.sessionExpires, headers.contentType, headers.replaces, headers.reasons)
    _ = (headers.referTo, headers.event, headers.subscriptionState, headers.challenges(), headers.credentials())
}
