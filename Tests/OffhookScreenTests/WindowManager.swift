import CXCB
import Foundation

/// Does to windows what a person does with a window manager and a keyboard.
final class WindowManager {
    private let xcb: Functions
    private let connection: OpaquePointer
    private let root: xcb_window_t

    /// What the tests call beyond what the library itself does.
    private struct Functions {
        typealias QueryTree = @convention(c) (OpaquePointer, UInt32) -> xcb_query_tree_cookie_t
        typealias QueryTreeReply =
            @convention(c) (OpaquePointer, xcb_query_tree_cookie_t, UnsafeMutableRawPointer?) ->
            UnsafeMutablePointer<xcb_query_tree_reply_t>?
        typealias Children =
            @convention(c) (UnsafePointer<xcb_query_tree_reply_t>) -> UnsafeMutablePointer<UInt32>?
        typealias SendEvent =
            @convention(c) (OpaquePointer, UInt8, UInt32, UInt32, UnsafeRawPointer) -> xcb_void_cookie_t
        typealias InternAtom =
            @convention(c) (OpaquePointer, UInt8, UInt16, UnsafePointer<CChar>) -> xcb_intern_atom_cookie_t
        typealias InternAtomReply =
            @convention(c) (OpaquePointer, xcb_intern_atom_cookie_t, UnsafeMutableRawPointer?) ->
            UnsafeMutablePointer<xcb_intern_atom_reply_t>?

        let table: cxcb_functions
        let queryTree: QueryTree
        let queryTreeReply: QueryTreeReply
        let children: Children
        let sendEvent: SendEvent
        let internAtom: InternAtom
        let internAtomReply: InternAtomReply

        init?() {
            guard let table = cxcb_load()?.pointee, let library = dlopen("libxcb.so.1", RTLD_NOW) else { return nil }
            func find<Function>(_ name: String, _: Function.Type) -> Function? {
                dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
            }
            guard let queryTree = find("xcb_query_tree", QueryTree.self),
                let queryTreeReply = find("xcb_query_tree_reply", QueryTreeReply.self),
                let children = find("xcb_query_tree_children", Children.self),
                let sendEvent = find("xcb_send_event", SendEvent.self),
                let internAtom = find("xcb_intern_atom", InternAtom.self),
                let internAtomReply = find("xcb_intern_atom_reply", InternAtomReply.self)
            else { return nil }
            self.table = table
            self.queryTree = queryTree
            self.queryTreeReply = queryTreeReply
            self.children = children
            self.sendEvent = sendEvent
            self.internAtom = internAtom
            self.internAtomReply = internAtomReply
        }
    }

    init?(_ display: String) {
        guard let xcb = Functions(), let connection = xcb.table.xcb_connect(display, nil),
            xcb.table.xcb_connection_has_error(connection) == 0,
            let screen = xcb.table.xcb_setup_roots_iterator(xcb.table.xcb_get_setup(connection)).data
        else { return nil }
        self.xcb = xcb
        self.connection = connection
        root = screen.pointee.root
    }

    deinit {
        xcb.table.xcb_disconnect(connection)
    }

    /// Asks the window on top to close, as the button in its title bar does.
    func closeTopWindow() {
        guard let window = topWindow else { return }
        var event = xcb_client_message_event_t()
        event.response_type = UInt8(XCB_CLIENT_MESSAGE)
        event.format = 32
        event.window = window
        event.type = atom("WM_PROTOCOLS")
        event.data.data32.0 = atom("WM_DELETE_WINDOW")
        send(&event, to: window, mask: 0)
    }

    func pressKeyInTopWindow(_ key: UInt8) {
        guard let window = topWindow else { return }
        for type in [XCB_KEY_PRESS, XCB_KEY_RELEASE] {
            var event = xcb_key_press_event_t()
            event.response_type = UInt8(type)
            event.detail = key
            event.root = root
            event.event = window
            event.same_screen = 1
            send(
                &event, to: window,
                mask: type == XCB_KEY_PRESS ? XCB_EVENT_MASK_KEY_PRESS.rawValue : XCB_EVENT_MASK_KEY_RELEASE.rawValue)
        }
    }

    /// Tells clients, and waits until that is done, that the screen has a size.
    func tellScreenSize(width: UInt16, height: UInt16) {
        var event = xcb_configure_notify_event_t()
        event.response_type = UInt8(XCB_CONFIGURE_NOTIFY)
        (event.event, event.window) = (root, root)
        (event.width, event.height) = (width, height)
        send(&event, to: root, mask: XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue)
        // An answer to what was asked later tells that the server has done what was asked before.
        _ = topWindow
    }

    private var topWindow: UInt32? {
        guard let reply = xcb.queryTreeReply(connection, xcb.queryTree(connection, root), nil) else { return nil }
        defer { free(reply) }
        // From the bottom to the top.
        return UnsafeBufferPointer(start: xcb.children(reply), count: Int(reply.pointee.children_len)).last
    }

    private func atom(_ name: String) -> UInt32 {
        let request = xcb.internAtom(connection, 0, UInt16(name.utf8.count), name)
        guard let reply = xcb.internAtomReply(connection, request, nil) else { return 0 }
        defer { free(reply) }
        return reply.pointee.atom
    }

    private func send<Event>(_ event: inout Event, to window: UInt32, mask: UInt32) {
        withUnsafeBytes(of: &event) { bytes in
            // An event has 32 bytes on the wire, however many are of use.
            var padded = [UInt8](repeating: 0, count: 32)
            for (index, byte) in bytes.prefix(32).enumerated() { padded[index] = byte }
            _ = xcb.sendEvent(connection, 0, window, mask, padded)
        }
        _ = xcb.table.xcb_flush(connection)
    }
}
