package import OffhookBasics

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

/// Why a payload is no VP8 payload.
package enum VP8ParseError: Error, Hashable, Sendable {
    case tooShort
}

/// The bytes before the VP8 data in each packet (RFC 7741 §4.2).
package struct VP8PayloadDescriptor: Hashable, Sendable {
    package enum PictureID: Hashable, Sendable {
        /// 7 bits; it wraps after 127.
        case short(UInt8)
        /// 15 bits; it wraps after 32767.
        case long(UInt16)
    }

    /// N: no other frame refers to this one.
    package var isNonReference = false
    /// S: the first byte of the data is the first of a partition.
    package var startsPartition = false
    /// PID
    package var partitionIndex: UInt8 = 0
    package var pictureID: PictureID?
    /// TL0PICIDX
    package var baseLayerPictureIndex: UInt8?
    /// TID
    package var temporalIndex: UInt8?
    /// Y; it means something only beside a TID.
    package var isLayerSync = false
    /// KEYIDX
    package var keyFrameIndex: UInt8?

    package init() {}

    /// Whether the packet is the first of its frame.
    package var startsFrame: Bool {
        startsPartition && partitionIndex == 0
    }

    /// Reads a descriptor; the second result is how many bytes it takes.
    package static func parse(_ bytes: RawSpan) throws(VP8ParseError) -> (descriptor: Self, size: Int) {
        var reader = ByteReader(bytes)
        var descriptor = VP8PayloadDescriptor()
        guard let first = reader.readUInt8() else { throw .tooShort }
        descriptor.isNonReference = first & 0x20 != 0
        descriptor.startsPartition = first & 0x10 != 0
        descriptor.partitionIndex = first & 0x07
        guard first & 0x80 != 0 else { return (descriptor, reader.offset) }

        guard let present = reader.readUInt8() else { throw .tooShort }
        if present & 0x80 != 0 {
            guard let high = reader.readUInt8() else { throw .tooShort }
            if high & 0x80 != 0 {
                guard let low = reader.readUInt8() else { throw .tooShort }
                descriptor.pictureID = .long(UInt16(high & 0x7F) << 8 | UInt16(low))
            } else {
                descriptor.pictureID = .short(high)
            }
        }
        if present & 0x40 != 0 {
            guard let index = reader.readUInt8() else { throw .tooShort }
            descriptor.baseLayerPictureIndex = index
        }
        if present & 0x30 != 0 {
            guard let layers = reader.readUInt8() else { throw .tooShort }
            if present & 0x20 != 0 {
                descriptor.temporalIndex = layers >> 6
                descriptor.isLayerSync = layers & 0x20 != 0
            }
            if present & 0x10 != 0 { descriptor.keyFrameIndex = layers & 0x1F }
        }
        return (descriptor, reader.offset)
    }

    package var size: Int {
        let layers = temporalIndex != nil || keyFrameIndex != nil
        let pictureIDSize =
            switch pictureID {
            case nil: 0
            case .short: 1
            case .long: 2
            }
        let optional = pictureIDSize + (baseLayerPictureIndex == nil ? 0 : 1) + (layers ? 1 : 0)
        return optional == 0 ? 1 : 2 + optional
    }

    package func write(to buffer: PacketBuffer) {
        let layers = temporalIndex != nil || keyFrameIndex != nil
        let isExtended = size > 1
        buffer.append(
            (isExtended ? 0x80 : 0) | (isNonReference ? 0x20 : 0) | (startsPartition ? 0x10 : 0) | partitionIndex & 0x07
        )
        guard isExtended else { return }
        buffer.append(
            (pictureID == nil ? 0 : 0x80) | (baseLayerPictureIndex == nil ? 0 : 0x40)
                | (temporalIndex == nil ? 0 : 0x20)
                | (keyFrameIndex == nil ? 0 : 0x10))
        switch pictureID {
        case nil: break
        case .short(let value): buffer.append(value & 0x7F)
        case .long(let value): buffer.appendBigEndian(value | 0x8000)
        }
        if let index = baseLayerPictureIndex { buffer.append(index) }
        if layers {
            buffer.append((temporalIndex ?? 0) << 6 | (isLayerSync ? 0x20 : 0) | (keyFrameIndex ?? 0) & 0x1F)
        }
    }
}
