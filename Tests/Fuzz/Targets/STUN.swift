// Seeds: Tests/OffhookICETests/Fixtures
import OffhookBasics
import OffhookICE

/// Whatever comes, neither the parser nor a TURN connection's framing falls over.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSTUN(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count).bytes
    if let message = try? STUNMessage(parsing: bytes) {
        guard message.attributes.count <= count / 4 else { fatalError("more attributes than there is room for") }
    }
    var framer = STUNStreamFramer()
    framer.append(bytes)
    while let message = framer.next() {
        guard message.count >= 4 else { fatalError("a frame without a header") }
    }
    return 0
}
