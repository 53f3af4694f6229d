internal import CPulse

/// libpulse, loaded when sound is first used, so that programs without sound need not have it.
enum PulseLibrary {
    /// Loads the library; at no cost where it is loaded already.
    static func load() throws(SoundError) -> cpulse_functions {
        var functions = cpulse_functions()
        switch cpulse_load(&functions) {
        case CPULSE_LOADED: return functions
        case CPULSE_TOO_OLD:
            throw SoundError(
                .notInstalled, "The sound library libpulse is too old: install libpulse0 of version 14 or newer.")
        default:
            throw SoundError(.notInstalled, "The sound library libpulse is not installed; install libpulse0.")
        }
    }
}
