// Seeds: Tests/OffhookRTPTests/Fixtures
import OffhookBasics
import OffhookRTP

/// A payload descriptor never claims more bytes than there are, and a frame's header never reads past its end.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVP8(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count).bytes
    if let (_, size) = try? VP8PayloadDescriptor.parse(bytes) {
        guard size <= count else { fatalError("a descriptor of \(size) bytes in a payload of \(count)") }
        _ = VP8FrameHeader(parsing: bytes.extracting(size..<count))
    }
    return 0
}
