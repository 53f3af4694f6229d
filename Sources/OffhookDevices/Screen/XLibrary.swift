internal import CXCB

/// XCB's functions, loaded when the first screen is asked for.
enum XLibrary {
    // The tables are written once, before anyone has them, and never again; their functions are C's.
    private nonisolated(unsafe) static let core = cxcb_load()
    private nonisolated(unsafe) static let sharedMemory = cxcb_load_shm()
    private nonisolated(unsafe) static let pointer = cxcb_load_fixes()

    static func functions() throws(DeviceError) -> cxcb_functions {
        guard let core else {
            throw DeviceError(
                .libraryMissing,
                "libxcb.so.1 cannot be loaded, so no screen can be shared; install it with: apt-get install libxcb1")
        }
        return core.pointee
    }

    /// Nil where it is not installed: pictures are then sent by the server whole.
    static var sharedMemoryFunctions: cxcb_shm_functions? { sharedMemory?.pointee }

    /// Nil where it is not installed: pictures are then without the pointer.
    static var pointerFunctions: cxcb_fixes_functions? { pointer?.pointee }
}
