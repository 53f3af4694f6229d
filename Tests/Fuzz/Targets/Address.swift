// Seeds: Tests/OffhookSDPTests/Fixtures
import OffhookBasics

/// An address that parses prints a text that parses to the same address.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAddress(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    if let address = IPAddress(parsing: text) {
        guard IPAddress(parsing: address.description) == address else { fatalError("\(address) does not read back") }
    }
    if let endpoint = Endpoint(parsing: text) {
        guard Endpoint(parsing: endpoint.description) == endpoint else { fatalError("\(endpoint) does not read back") }
    }
    return 0
}
