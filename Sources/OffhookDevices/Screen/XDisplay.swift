internal import CXCB
internal import Glibc
internal import OffhookMedia

/// A connection to an X server that takes pictures of its screen. It belongs to one thread at a time.
final class XDisplay {
    /// The screen's size, as of the last look.
    private(set) var size: VideoSize

    private let xcb: cxcb_functions
    private let connection: OpaquePointer
    private let root: xcb_window_t
    private let format: XPixelFormat
    private let pointer: XPointer?
    /// Two segments in turn, so that the picture before is still there to compare with. Nil where the server does not share
    /// memory, as one across a network cannot.
    private var sharedMemory: XSharedMemory?

    init(name: String?) throws(DeviceError) {
        let xcb = try XLibrary.functions()
        var number: Int32 = 0
        // A connection that failed is an object, too, and never nil.
        guard let connection = xcb.xcb_connect(name, &number) else {
            throw DeviceError(.noDisplay, "There is no memory for a connection to the display.")
        }
        do throws(DeviceError) {
            guard xcb.xcb_connection_has_error(connection) == 0 else { throw Self.unreachable(name) }
            let screen = try Self.screen(number, of: connection, xcb)
            self.xcb = xcb
            self.connection = connection
            root = screen.pointee.root
            format = try Self.format(of: screen, connection, xcb)
            size = VideoSize(
                width: Int(screen.pointee.width_in_pixels), height: Int(screen.pointee.height_in_pixels))
            pointer = XPointer(xcb, connection)
            sharedMemory = XSharedMemory(xcb, connection)
        } catch {
            xcb.xcb_disconnect(connection)
            throw error
        }
        // The server tells when the screen is resized.
        var mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue
        _ = xcb.xcb_change_window_attributes(connection, root, XCB_CW_EVENT_MASK.rawValue, &mask)
        _ = xcb.xcb_flush(connection)
    }

    deinit {
        sharedMemory = nil
        xcb.xcb_disconnect(connection)
    }

    /// Whether the server is still there.
    var isConnected: Bool { xcb.xcb_connection_has_error(connection) == 0 }

    /// Whether the server writes pictures into memory of ours.
    var sharesMemory: Bool { sharedMemory != nil }

    /// Sends pictures through the connection from now on.
    func stopSharingMemory() {
        sharedMemory = nil
    }

    /// Takes a picture of the screen, or of what of an area is on it; nil where there is none, as while it is resized. The
    /// one before the last is no longer valid.
    func grab(_ area: ScreenArea?) -> XPicture? {
        followSize()
        guard let area = clip(area) else { return nil }
        if let sharedMemory {
            if let picture = sharedMemory.grab(area, of: root, format: format) { return picture }
            guard isConnected, sharedMemory.isRefused else { return nil }
            self.sharedMemory = nil
        }
        return grabThroughConnection(area)
    }

    /// What the pointer looks like, and where it is; nil where that cannot be told.
    func pointerImage() -> XPointer.Image? {
        pointer?.image()
    }

    private func clip(_ area: ScreenArea?) -> ScreenArea? {
        guard let area else { return ScreenArea(x: 0, y: 0, size: size) }
        let (left, top) = (max(area.x, 0), max(area.y, 0))
        let right = min(area.x.saturating(adding: area.size.width), size.width)
        let bottom = min(area.y.saturating(adding: area.size.height), size.height)
        guard left < right, top < bottom else { return nil }
        return ScreenArea(x: left, y: top, size: VideoSize(width: right - left, height: bottom - top))
    }

    private func followSize() {
        while let event = xcb.xcb_poll_for_event(connection) {
            defer { free(event) }
            guard event.pointee.response_type & 0x7F == XCB_CONFIGURE_NOTIFY else { continue }
            event.withMemoryRebound(to: xcb_configure_notify_event_t.self, capacity: 1) { change in
                guard change.pointee.window == root else { return }
                size = VideoSize(width: Int(change.pointee.width), height: Int(change.pointee.height))
            }
        }
    }

    private func grabThroughConnection(_ area: ScreenArea) -> XPicture? {
        let request = xcb.xcb_get_image(
            connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), root, Int16(clamping: area.x),
            Int16(clamping: area.y), UInt16(clamping: area.size.width), UInt16(clamping: area.size.height), .max)
        guard let reply = xcb.xcb_get_image_reply(connection, request, nil) else { return nil }
        let needed = XPicture.stride(width: area.size.width, format: format) * area.size.height
        guard let pixels = xcb.xcb_get_image_data(reply), Int(xcb.xcb_get_image_data_length(reply)) >= needed else {
            free(reply)
            return nil
        }
        return XPicture(size: area.size, format: format, pixels: pixels) { free(reply) }
    }

    // MARK: Setting up

    private static func unreachable(_ name: String?) -> DeviceError {
        guard let name = name ?? getenv("DISPLAY").map({ String(cString: $0) }), !name.isEmpty else {
            return DeviceError(.noDisplay, "There is no screen to share; set DISPLAY to that of an X server, as in :0.")
        }
        return DeviceError(
            .noDisplay, "The X server at \(name) does not answer or lets nobody in; check DISPLAY and XAUTHORITY.")
    }

    private static func screen(
        _ number: Int32, of connection: OpaquePointer, _ xcb: cxcb_functions
    ) throws(DeviceError) -> UnsafeMutablePointer<xcb_screen_t> {
        var screens = xcb.xcb_setup_roots_iterator(xcb.xcb_get_setup(connection))
        for _ in 0..<max(number, 0) where screens.rem > 1 { xcb.xcb_screen_next(&screens) }
        guard screens.rem > 0, let screen = screens.data else {
            throw DeviceError(.noDisplay, "The X server has no screen.")
        }
        return screen
    }

    private static func format(
        of screen: UnsafeMutablePointer<xcb_screen_t>, _ connection: OpaquePointer, _ xcb: cxcb_functions
    ) throws(DeviceError) -> XPixelFormat {
        guard let setup = xcb.xcb_get_setup(connection) else { throw unreachable(nil) }
        let formats = UnsafeBufferPointer(
            start: xcb.xcb_setup_pixmap_formats(setup), count: Int(xcb.xcb_setup_pixmap_formats_length(setup)))
        let bits = formats.first { $0.depth == screen.pointee.root_depth && $0.scanline_pad == 32 }?.bits_per_pixel
        let isLittleEndian = setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue)
        let masks = visual(of: screen, xcb).map { [$0.red_mask, $0.green_mask, $0.blue_mask] }
        switch (bits, masks, isLittleEndian) {
        case (32, [0xFF0000, 0xFF00, 0xFF], true): return .bgrx
        case (16, [0xF800, 0x7E0, 0x1F], true): return .rgb565
        default:
            throw DeviceError(
                .notUnderstood,
                "The screen's colours, of \(screen.pointee.root_depth) bits, cannot be read; set it to 24 or 16 bits.")
        }
    }

    /// The screen's lists of depths and visuals lie behind it in memory, which is why it is not copied.
    private static func visual(
        of screen: UnsafeMutablePointer<xcb_screen_t>, _ xcb: cxcb_functions
    ) -> xcb_visualtype_t? {
        var depths = xcb.xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            var visuals = xcb.xcb_depth_visuals_iterator(depths.data)
            while visuals.rem > 0 {
                if visuals.data.pointee.visual_id == screen.pointee.root_visual { return visuals.data.pointee }
                xcb.xcb_visualtype_next(&visuals)
            }
            xcb.xcb_depth_next(&depths)
        }
        return nil
    }
}

extension Int {
    fileprivate func saturating(adding other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
