/// The memory of one picture. Filled once by its maker, read-only from then on.
public final class VideoFrameBuffer: @unchecked Sendable {
    /// The picture's size in pixels.
    public let size: VideoSize
    /// The layout of the planes.
    public let pixelFormat: PixelFormat

    // The address is fixed so that C codecs can read and write in place. Writing happens before the buffer is shared
    // (`withMutablePlane` is for its maker), reading afterwards: that order is what makes the class sendable.
    private let memory: UnsafeMutableRawBufferPointer
    private let offsets: (Int, Int, Int)
    private let strides: (Int, Int, Int)
    private let recycler: (@Sendable (UnsafeMutableRawBufferPointer) -> Void)?
    /// How many samples were written in all: as many as the picture has where it was made in one pass. For its maker.
    package private(set) var writtenSamples = 0

    /// Allocates a picture whose rows are aligned to 64 bytes. The content is undefined.
    public convenience init(size: VideoSize, pixelFormat: PixelFormat = .i420) {
        let layout = Self.layout(size: size, pixelFormat: pixelFormat)
        self.init(
            size: size, pixelFormat: pixelFormat,
            memory: .allocate(byteCount: max(layout.byteCount, 1), alignment: 64),
            recycler: { $0.deallocate() })
    }

    /// Wraps memory of `requiredBytes(size:pixelFormat:)` bytes; `recycler` gets it back.
    package init(
        size: VideoSize, pixelFormat: PixelFormat, memory: UnsafeMutableRawBufferPointer,
        recycler: (@Sendable (UnsafeMutableRawBufferPointer) -> Void)?
    ) {
        let layout = Self.layout(size: size, pixelFormat: pixelFormat)
        precondition(size.width > 0 && size.height > 0, "a picture has at least one pixel")
        precondition(memory.count >= layout.byteCount, "the memory holds the whole picture")
        self.size = size
        self.pixelFormat = pixelFormat
        self.memory = memory
        self.recycler = recycler
        offsets = layout.offsets
        strides = layout.strides
    }

    deinit {
        recycler?(memory)
    }

    /// Bytes of memory that a picture takes.
    package static func requiredBytes(size: VideoSize, pixelFormat: PixelFormat) -> Int {
        layout(size: size, pixelFormat: pixelFormat).byteCount
    }

    private static func layout(
        size: VideoSize, pixelFormat: PixelFormat
    ) -> (offsets: (Int, Int, Int), strides: (Int, Int, Int), byteCount: Int) {
        func aligned(_ bytes: Int) -> Int { (bytes + 63) / 64 * 64 }
        let chromaWidth = (size.width + 1) / 2
        let chromaHeight = (size.height + 1) / 2
        let luma = aligned(size.width)
        let lumaBytes = luma * size.height
        switch pixelFormat {
        case .i420:
            let chroma = aligned(chromaWidth)
            let chromaBytes = chroma * chromaHeight
            return ((0, lumaBytes, lumaBytes + chromaBytes), (luma, chroma, chroma), lumaBytes + 2 * chromaBytes)
        case .nv12:
            let chroma = aligned(chromaWidth * 2)
            return ((0, lumaBytes, 0), (luma, chroma, 0), lumaBytes + chroma * chromaHeight)
        }
    }

    /// Bytes from one row of a plane to the next.
    public func stride(ofPlane plane: Int) -> Int {
        switch plane {
        case 0: strides.0
        case 1: strides.1
        default: strides.2
        }
    }

    /// Bytes of a plane's row that hold samples.
    public func rowBytes(ofPlane plane: Int) -> Int {
        if plane == 0 { return size.width }
        return pixelFormat == .i420 ? (size.width + 1) / 2 : (size.width + 1) / 2 * 2
    }

    /// Rows of a plane.
    public func rows(ofPlane plane: Int) -> Int {
        plane == 0 ? size.height : (size.height + 1) / 2
    }

    private func bytes(ofPlane plane: Int) -> UnsafeMutableRawBufferPointer {
        precondition(
            plane >= 0 && plane < pixelFormat.planeCount, "\(pixelFormat) has \(pixelFormat.planeCount) planes")
        let offset = plane == 0 ? offsets.0 : plane == 1 ? offsets.1 : offsets.2
        let count = stride(ofPlane: plane) * rows(ofPlane: plane)
        return UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + count])
    }

    /// Lends a plane's bytes, `rows × stride` of them.
    public func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let samples = bytes(ofPlane: plane).assumingMemoryBound(to: UInt8.self)
        return try body(Span(_unsafeElements: UnsafeBufferPointer(samples)))
    }

    /// Lends a plane's bytes for writing, to the maker of the picture, before anyone else has it.
    public func withMutablePlane<Result, Failure: Error>(
        _ plane: Int, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        writtenSamples += rowBytes(ofPlane: plane) * rows(ofPlane: plane)
        var span = MutableSpan(_unsafeElements: bytes(ofPlane: plane).assumingMemoryBound(to: UInt8.self))
        return try body(&span)
    }

    /// A plane's address, for C codecs that read, valid while the buffer lives.
    package func pointer(toPlane plane: Int) -> UnsafePointer<UInt8> {
        UnsafePointer(address(ofPlane: plane))
    }

    /// A plane's address, for C codecs that fill it once, for the maker of the picture, before anyone else has it.
    package func pointerForWriting(toPlane plane: Int) -> UnsafeMutablePointer<UInt8> {
        writtenSamples += rowBytes(ofPlane: plane) * rows(ofPlane: plane)
        return address(ofPlane: plane)
    }

    private func address(ofPlane plane: Int) -> UnsafeMutablePointer<UInt8> {
        // `memory` is never empty, so a base address exists.
        bytes(ofPlane: plane).baseAddress!.assumingMemoryBound(to: UInt8.self)
    }

    /// Samples that a picture of this size has, in either layout.
    package static func sampleCount(of size: VideoSize) -> Int {
        size.width * size.height + (size.width + 1) / 2 * ((size.height + 1) / 2) * 2
    }
}
