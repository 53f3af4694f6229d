/// The place of a frame among temporal layers (RFC 7741 §4.2, TID, Y and TL0PICIDX).
package struct VP8TemporalLayer: Hashable, Sendable {
    package var index: UInt8
    /// The frame refers to nothing but frames of layer 0.
    package var isLayerSync: Bool
    package var baseLayerPictureIndex: UInt8

    package init(index: UInt8, isLayerSync: Bool, baseLayerPictureIndex: UInt8) {
        self.index = index
        self.isLayerSync = isLayerSync
        self.baseLayerPictureIndex = baseLayerPictureIndex
    }
}
