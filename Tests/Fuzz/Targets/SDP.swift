// Seeds: Tests/OffhookSDPTests/Fixtures
import OffhookBasics
import OffhookMedia
import OffhookSDP

/// What parses prints, and parses to the same again; as an offer it is answered or refused, as an answer taken or not.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let description = try? SessionDescription(parsing: bytes) else { return 0 }
    guard let again = try? SessionDescription(parsing: description.write()), again.write() == description.write() else {
        fatalError("it does not read back as what it was")
    }
    let address = IPAddress(version4: 0xC000_0201)
    var keys: [SDESSuite: [UInt8]] = [:]
    for suite in SDESSuite.allCases { keys[suite] = [UInt8](repeating: 7, count: suite.inlineLength) }
    let wishes = MediaWishes(
        audio: LocalStream(address: address, port: 4000, keys: keys),
        video: LocalStream(address: address, port: 4002, keys: keys), videoMode: .sendReceive)
    for security in MediaSecurityPolicy.allCases {
        var capabilities = MediaCapabilities()
        capabilities.security = security
        capabilities.canBundle = true
        var answering = OfferAnswer(capabilities: capabilities, sessionID: 1, address: address)
        if answering.receiveOffer(description).rejection == nil {
            guard let answer = answering.makeAnswer(wishes), answer.media.count == description.media.count else {
                fatalError("an answer has as many lines as its offer")
            }
        }
        var offering = OfferAnswer(capabilities: capabilities, sessionID: 1, address: address)
        _ = offering.makeOffer(wishes)
        _ = offering.receiveAnswer(description)
    }
    return 0
}
