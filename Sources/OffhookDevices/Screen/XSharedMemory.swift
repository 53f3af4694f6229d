internal import CXCB
internal import Glibc
internal import OffhookMedia

/// Memory that the X server writes pictures into. It belongs to one thread at a time, and does not outlive its connection.
final class XSharedMemory {
    /// Whether the server would not have our memory, as one on another machine cannot.
    private(set) var isRefused = false

    private let xcb: cxcb_functions
    private let functions: cxcb_shm_functions
    private let connection: OpaquePointer
    private var segments: [Segment?] = [nil, nil]
    /// Which segment has the newest picture; the other one is written next.
    private var turn = 0

    /// A piece of memory, mapped here for as long as anybody has it.
    private final class Segment {
        let capacity: Int
        let address: UnsafeMutablePointer<UInt8>
        let number: Int32
        /// What the server calls it.
        var name: UInt32 = 0

        init?(capacity: Int) {
            number = shmget(0, capacity, Int32(IPC_CREAT | 0o600))
            guard number >= 0 else { return nil }
            guard let address = shmat(number, nil, 0), Int(bitPattern: address) != -1 else {
                shmctl(number, IPC_RMID, nil)
                return nil
            }
            self.capacity = capacity
            self.address = address.assumingMemoryBound(to: UInt8.self)
        }

        /// The system gives the memory back when both sides have let go, however they end.
        func forgetWhenUnused() {
            shmctl(number, IPC_RMID, nil)
        }

        deinit {
            shmdt(address)
        }
    }

    /// Nil where the server does not know how.
    init?(_ xcb: cxcb_functions, _ connection: OpaquePointer) {
        guard let functions = XLibrary.sharedMemoryFunctions,
            let known = xcb.xcb_get_extension_data(connection, functions.extension), known.pointee.present != 0
        else { return nil }
        self.xcb = xcb
        self.functions = functions
        self.connection = connection
    }

    /// Takes a picture; nil where the server refuses memory or picture.
    func grab(_ area: ScreenArea, of drawable: UInt32, format: XPixelFormat) -> XPicture? {
        let needed = XPicture.stride(width: area.size.width, format: format) * area.size.height
        let next = 1 - turn
        guard let segment = segment(next, of: needed) else {
            isRefused = true
            return nil
        }
        let request = functions.xcb_shm_get_image(
            connection, drawable, Int16(clamping: area.x), Int16(clamping: area.y), UInt16(clamping: area.size.width),
            UInt16(clamping: area.size.height), .max, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), segment.name, 0)
        guard let reply = functions.xcb_shm_get_image_reply(connection, request, nil) else { return nil }
        free(reply)
        turn = next
        return XPicture(size: area.size, format: format, pixels: segment.address) { withExtendedLifetime(segment) {} }
    }

    private func segment(_ index: Int, of needed: Int) -> Segment? {
        if let segment = segments[index], segment.capacity >= needed { return segment }
        if let old = segments[index] { _ = functions.xcb_shm_detach(connection, old.name) }
        segments[index] = nil
        guard let new = Segment(capacity: needed) else { return nil }
        new.name = xcb.xcb_generate_id(connection)
        let request = functions.xcb_shm_attach_checked(connection, new.name, UInt32(bitPattern: new.number), 0)
        let refusal = xcb.xcb_request_check(connection, request)
        new.forgetWhenUnused()
        guard refusal == nil else {
            free(refusal)
            return nil
        }
        segments[index] = new
        return new
    }
}
