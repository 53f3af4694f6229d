/// Frame buffers that are used again once whoever read them has let go.
struct EncodedFramePool {
    private static let most = 16

    private var buffers: [EncodedFrameBuffer] = []

    /// An empty buffer that nobody else holds.
    mutating func take() -> EncodedFrameBuffer {
        for index in buffers.indices where isKnownUniquelyReferenced(&buffers[index]) {
            buffers[index].removeAll()
            return buffers[index]
        }
        let buffer = EncodedFrameBuffer()
        if buffers.count < Self.most { buffers.append(buffer) }
        return buffer
    }
}
