/// Why sound could not be encoded or decoded.
package enum AudioCodecError: Error, Hashable, Sendable {
    /// The payload is not one of this codec's.
    case invalidPayload
    /// A number of samples, channels or samples a second that the codec does not work with.
    case unsupportedFormat
    /// The library refused its configuration or ran out of memory.
    case unavailable
}
