internal import OffhookBasics
package import OffhookMedia

/// Keeps the memory of pictures that were let go, for the next pictures of the same size.
///
/// Buffers may be taken and let go on any thread. Memory of other sizes is freed as soon as the size changes.
package final class VideoFramePool: Sendable {
    private struct Block: @unchecked Sendable {
        // Owned by whoever holds the block, one at a time: the pool's list, or the frame buffer made of it.
        let memory: UnsafeMutableRawBufferPointer
    }

    private struct State {
        var free: [Block] = []
        var byteCount = 0
        var allocations = 0
    }

    private let state = Lock(State())
    private let capacity: Int

    /// Makes a pool that keeps so many unused buffers at most.
    package init(capacity: Int = 8) {
        self.capacity = capacity
    }

    deinit {
        let free = state.withLock { $0.free }
        for block in free { block.memory.deallocate() }
    }

    /// How often memory had to be allocated, which stands still in steady state.
    package var allocationCount: Int { state.withLock { $0.allocations } }

    /// A buffer with undefined content; it returns to the pool when the last frame with it is gone.
    package func takeBuffer(size: VideoSize, pixelFormat: PixelFormat = .i420) -> VideoFrameBuffer {
        let byteCount = VideoFrameBuffer.requiredBytes(size: size, pixelFormat: pixelFormat)
        let (block, outgrown) = state.withLock { state -> (Block?, [Block]) in
            if state.byteCount == byteCount {
                let block = state.free.popLast()
                if block == nil { state.allocations += 1 }
                return (block, [])
            }
            defer { state.free = [] }
            state.byteCount = byteCount
            state.allocations += 1
            return (nil, state.free)
        }
        for block in outgrown { block.memory.deallocate() }
        let memory = block?.memory ?? .allocate(byteCount: byteCount, alignment: 64)
        return VideoFrameBuffer(size: size, pixelFormat: pixelFormat, memory: memory) { [weak self] memory in
            guard let self else { return memory.deallocate() }
            give(Block(memory: memory))
        }
    }

    private func give(_ block: Block) {
        let isKept = state.withLock { state in
            guard state.byteCount == block.memory.count, state.free.count < capacity else { return false }
            state.free.append(block)
            return true
        }
        if !isKept { block.memory.deallocate() }
    }
}
