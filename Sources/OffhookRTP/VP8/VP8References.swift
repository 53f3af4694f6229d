/// Which frames can be decoded after those that were given out (RFC 7741 §4.2 on PictureID, TL0PICIDX, TID and Y).
///
/// Without temporal layers each frame but a key frame refers to the one before it.
struct VP8References {
    private var pictureID: VP8PayloadDescriptor.PictureID?
    private var baseLayerPictureIndex: UInt8?
    /// Something was skipped since, so layers above the base wait for a frame that refers to the base alone.
    private var isUpperLayerBroken = false
    /// Continues over the wraps.
    private(set) var extendedPictureID: Int?

    /// Whether no frame lies between the last one given out and this one.
    func isNext(_ descriptor: VP8PayloadDescriptor) -> Bool {
        guard let pictureID, let candidate = descriptor.pictureID else { return false }
        return Self.distance(from: pictureID, to: candidate) == 1
    }

    /// Whether a frame that is not a key frame can be decoded although frames before it are lost.
    func isDecodableAfterLoss(_ descriptor: VP8PayloadDescriptor) -> Bool {
        guard let last = baseLayerPictureIndex, let index = descriptor.baseLayerPictureIndex,
            let layer = descriptor.temporalIndex
        else { return false }
        return layer == 0 ? index == last &+ 1 : descriptor.isLayerSync && index == last
    }

    /// Whether a frame that follows the last one without loss can be decoded.
    func isDecodableInOrder(_ descriptor: VP8PayloadDescriptor) -> Bool {
        guard isUpperLayerBroken, let layer = descriptor.temporalIndex, layer > 0 else { return true }
        return descriptor.isLayerSync && descriptor.baseLayerPictureIndex == baseLayerPictureIndex
    }

    mutating func give(_ descriptor: VP8PayloadDescriptor, isKeyFrame: Bool, afterLoss: Bool) {
        if isKeyFrame {
            isUpperLayerBroken = false
        } else if afterLoss {
            isUpperLayerBroken = true
        }
        if descriptor.temporalIndex != nil, descriptor.isLayerSync { isUpperLayerBroken = false }
        extend(descriptor.pictureID)
        pictureID = descriptor.pictureID
        if let index = descriptor.baseLayerPictureIndex, (descriptor.temporalIndex ?? 0) == 0 {
            baseLayerPictureIndex = index
        }
    }

    /// A frame is passed over without being given out.
    mutating func pass(_ descriptor: VP8PayloadDescriptor) {
        extend(descriptor.pictureID)
        pictureID = descriptor.pictureID
        isUpperLayerBroken = true
    }

    private mutating func extend(_ candidate: VP8PayloadDescriptor.PictureID?) {
        guard let candidate else {
            extendedPictureID = nil
            return
        }
        guard let pictureID, let extended = extendedPictureID,
            let distance = Self.distance(from: pictureID, to: candidate)
        else {
            extendedPictureID = candidate.value
            return
        }
        extendedPictureID = extended + distance
    }

    /// Modulo the narrower of the two widths: the M bit may change from picture to picture.
    private static func distance(
        from old: VP8PayloadDescriptor.PictureID, to new: VP8PayloadDescriptor.PictureID
    ) -> Int? {
        let modulus: Int
        switch (old, new) {
        case (.long, .long): modulus = 0x8000
        default: modulus = 0x80
        }
        return (new.value - old.value) & (modulus - 1)
    }
}

extension VP8PayloadDescriptor.PictureID {
    var value: Int {
        switch self {
        case .short(let value): Int(value)
        case .long(let value): Int(value)
        }
    }
}
