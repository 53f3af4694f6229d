/// Cuts encoded frames into payloads of equal size and numbers the pictures (RFC 7741 §4.4).
///
/// Equal pieces let a whole frame leave in one segmented send; only the last may be shorter.
package struct VP8Packetizer: Sendable {
    private var nextPictureID: UInt16

    package init(firstPictureID: UInt16) {
        nextPictureID = firstPictureID & 0x7FFF
    }

    /// How a frame is cut: the descriptor of its first packet, how many bytes of it each packet carries.
    package struct Plan: Hashable, Sendable {
        package let descriptor: VP8PayloadDescriptor
        package let pieceSize: Int
        package let pieceCount: Int
        package let frameSize: Int

        /// The part of the frame in one packet.
        package func range(of piece: Int) -> Range<Int> {
            let start = piece * pieceSize
            return start..<min(frameSize, start + pieceSize)
        }

        /// Only the first packet starts the partition: we do not look where the other partitions start, so all bytes
        /// are of partition 0 (RFC 7741 §4.4 allows it).
        package func descriptor(of piece: Int) -> VP8PayloadDescriptor {
            var copy = descriptor
            copy.startsPartition = piece == 0
            return copy
        }
    }

    /// Plans the next picture; nil for an empty frame.
    package mutating func plan(
        frameSize: Int, maximumPayloadSize: Int, temporalLayer: VP8TemporalLayer?
    ) -> Plan? {
        guard frameSize > 0 else { return nil }
        var descriptor = VP8PayloadDescriptor()
        descriptor.startsPartition = true
        descriptor.pictureID = .long(nextPictureID)
        if let layer = temporalLayer {
            descriptor.temporalIndex = layer.index & 0x03
            descriptor.isLayerSync = layer.isLayerSync
            descriptor.baseLayerPictureIndex = layer.baseLayerPictureIndex
        }
        nextPictureID = (nextPictureID &+ 1) & 0x7FFF
        let room = max(64, maximumPayloadSize - descriptor.size)
        let count = (frameSize + room - 1) / room
        let size = (frameSize + count - 1) / count
        return Plan(
            descriptor: descriptor, pieceSize: size, pieceCount: (frameSize + size - 1) / size, frameSize: frameSize)
    }
}
