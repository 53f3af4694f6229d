internal import CSDL

/// SDL's functions, loaded when the first window is asked for. Whatever concerns pictures or events is called on
/// ``WindowThread`` alone, as SDL demands.
enum SDLLibrary {
    // The table is written once, before anyone has it, and never again; its functions are C's.
    private nonisolated(unsafe) static let loaded: Result<UnsafePointer<csdl_functions>, DeviceError> = {
        var missing: UnsafePointer<CChar>?
        if let functions = csdl_load(&missing) { return .success(functions) }
        let name = missing.map { String(cString: $0) } ?? "SDL"
        return .failure(
            DeviceError(
                .libraryMissing,
                "\(name) cannot be loaded, so there is no window; install it with: apt-get install libsdl2-2.0-0"))
    }()

    static func functions() throws(DeviceError) -> csdl_functions {
        try loaded.get().pointee
    }
}

extension csdl_functions {
    /// What SDL says went wrong last, on this thread.
    var lastError: String { SDL_GetError().map { String(cString: $0) } ?? "" }
}
