/// Why a packet could not be protected or was refused, or keys could not be set.
package enum SRTPError: Error, Hashable, Sendable {
    /// There are no keys for this direction yet.
    case noKeys
    /// It is too short, or its header claims more than there is.
    case malformed
    /// The tag does not match: forged, damaged, or protected with other keys.
    case authenticationFailed
    /// It was received before, or is too old to tell.
    case replayed
    /// It carries a master key identifier that was not signalled.
    case unknownMasterKey
    /// The packet with its tag would outgrow the buffer.
    case noRoom
    /// The keys have been used for as many packets as their suite allows.
    case keyExpired
    /// The library does not have this suite, or could not be started.
    case unavailable
}
