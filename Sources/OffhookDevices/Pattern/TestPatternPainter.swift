internal import Glibc
internal import OffhookBasics
internal import OffhookMedia

/// Draws test pictures: a still, textured room with a little sensor noise, a head swaying in it, and the cells.
///
/// All that does not move is made beforehand, so that a picture costs little more than copying its memory.
final class TestPatternPainter {
    private static let noiseCount = 4
    private static let tileSize = 256

    let size: VideoSize
    private let rooms: [VideoFrameBuffer]
    private let head: Head

    init(size: VideoSize) {
        self.size = size
        rooms = Self.makeRooms(size: size)
        head = Head(radius: max(min(size.width, size.height) / 8, 2))
    }

    func draw(_ pattern: TestPattern, into buffer: VideoFrameBuffer) {
        let room = rooms[pattern.frameNumber % rooms.count]
        for plane in 0..<3 {
            buffer.pointerForWriting(toPlane: plane)
                .update(
                    from: room.pointer(toPlane: plane), count: room.stride(ofPlane: plane) * room.rows(ofPlane: plane))
        }
        drawHead(number: pattern.frameNumber, into: buffer)
        drawCells(pattern, into: buffer)
    }

    // MARK: Moving parts

    private func drawHead(number: Int, into buffer: VideoFrameBuffer) {
        let phase = 2 * Double.pi * Double(number % 240) / 240
        let bar = TestPatternLayout.firstRow(ofRow: TestPatternLayout.rows, isBottom: false, height: size.height)
        let room = max(size.height / 2 - bar - head.radius, 0)
        // Even places, so that chroma fits.
        let left = (size.width / 2 + Int(sin(phase) * Double(size.width) / 8) - head.radius) / 2 * 2
        let top = (size.height / 2 + Int(sin(2 * phase) * Double(min(room, size.height / 24))) - head.radius) / 2 * 2
        for (plane, scale) in [(0, 1), (1, 2), (2, 2)] {
            let (columns, rows) = (buffer.rowBytes(ofPlane: plane), buffer.rows(ofPlane: plane))
            let lines = plane == 0 ? head.luma : plane == 1 ? head.blue : head.red
            for (index, line) in lines.enumerated() {
                let row = top / scale + index
                let start = max(left / scale + line.start, 0)
                let count = min(line.samples.count, columns - start)
                guard row >= 0, row < rows, count > 0 else { continue }
                line.samples.withUnsafeBufferPointer { samples in
                    guard let from = samples.baseAddress else { return }
                    (buffer.pointerForWriting(toPlane: plane) + row * buffer.stride(ofPlane: plane) + start).update(
                        from: from, count: count)
                }
            }
        }
    }

    private func drawCells(_ pattern: TestPattern, into buffer: VideoFrameBuffer) {
        let bits = TestPatternLayout.bits(of: pattern)
        let luma = buffer.pointerForWriting(toPlane: 0)
        let stride = buffer.stride(ofPlane: 0)
        for isBottom in [false, true] {
            for row in 0..<TestPatternLayout.rows {
                let top = TestPatternLayout.firstRow(ofRow: row, isBottom: isBottom, height: size.height)
                let bottom = TestPatternLayout.firstRow(ofRow: row + 1, isBottom: isBottom, height: size.height)
                guard bottom > top else { continue }
                let first = luma + top * stride
                for column in 0..<TestPatternLayout.columns {
                    let left = column * size.width / TestPatternLayout.columns
                    let right = (column + 1) * size.width / TestPatternLayout.columns
                    let isLight = bits[row * TestPatternLayout.columns + column]
                    memset(
                        first + left, Int32(isLight ? TestPatternLayout.light : TestPatternLayout.dark), right - left)
                }
                for line in (top + 1)..<max(bottom, top + 1) {
                    (luma + line * stride).update(from: first, count: size.width)
                }
            }
        }
    }

    // MARK: Still parts

    /// A square of texture that fits to itself on all sides.
    private static func makeTexture() -> [Int16] {
        var random = SeededRandom(seed: 0x0FF_400C)
        var texture = [Int16](repeating: 0, count: tileSize * tileSize)
        // Noise at four scales, each smoothed between its grid points.
        for (step, strength) in [(64, 28), (16, 10), (8, 6), (2, 3)] {
            let count = tileSize / step
            let grid = (0..<count * count).map { _ in Int(random.next() >> 40) % (2 * strength + 1) - strength }
            for y in 0..<tileSize {
                for x in 0..<tileSize {
                    let (column, row) = (x / step, y / step)
                    let (right, below) = ((column + 1) % count, (row + 1) % count)
                    let (dx, dy) = (x % step, y % step)
                    let upper = grid[row * count + column] * (step - dx) + grid[row * count + right] * dx
                    let lower = grid[below * count + column] * (step - dx) + grid[below * count + right] * dx
                    texture[y * tileSize + x] += Int16((upper * (step - dy) + lower * dy) / (step * step))
                }
            }
        }
        return texture
    }

    /// The room with each of the noises.
    private static func makeRooms(size: VideoSize) -> [VideoFrameBuffer] {
        let first = makeRoom(size: size, texture: makeTexture())
        var random = SeededRandom(seed: 0x0FF_400C)
        return [first]
            + (1..<noiseCount).map { _ in
                // The sum of three small dice is near enough to a bell curve of sigma 1.6.
                let noise = (0..<tileSize * 64).map { _ -> Int16 in
                    let dice = random.next()
                    return Int16(dice & 3) + Int16(dice >> 8 & 3) + Int16(dice >> 16 & 1) - 3
                }
                let room = VideoFrameBuffer(size: size)
                for plane in 0..<3 {
                    let count = first.stride(ofPlane: plane) * first.rows(ofPlane: plane)
                    room.pointerForWriting(toPlane: plane).update(from: first.pointer(toPlane: plane), count: count)
                }
                let luma = room.pointerForWriting(toPlane: 0)
                noise.withUnsafeBufferPointer { noise in
                    var index = 0
                    while index < size.height * room.stride(ofPlane: 0) {
                        luma[index] = UInt8(clamping: Int16(luma[index]) + noise[index % (tileSize * 64 - 1)])
                        index += 1
                    }
                }
                return room
            }
    }

    private static func makeRoom(size: VideoSize, texture: [Int16]) -> VideoFrameBuffer {
        let room = VideoFrameBuffer(size: size)
        // Window frames and shelves: edges a camera would see.
        let pane = max(size.width / 8, 8)
        let shelf = max(size.height / 5, 8)
        let columnShade = (0..<size.width).map { x in 96 + 48 * x / size.width - (x % pane < pane / 16 + 1 ? 40 : 0) }
        texture.withUnsafeBufferPointer { texture in
            columnShade.withUnsafeBufferPointer { columnShade in
                for y in 0..<size.height {
                    let row = room.pointerForWriting(toPlane: 0) + y * room.stride(ofPlane: 0)
                    let shade = 32 * y / size.height - (y % shelf < shelf / 12 + 1 ? 40 : 0)
                    let line = y % tileSize * tileSize
                    var x = 0
                    while x < size.width {
                        row[x] = UInt8(clamping: columnShade[x] + shade + Int(texture[line + x % tileSize]))
                        x += 1
                    }
                    // What is beyond the picture's edge is copied along, and must be defined.
                    while x < room.stride(ofPlane: 0) {
                        row[x] = 128
                        x += 1
                    }
                }
            }
        }
        let bar =
            TestPatternLayout.firstRow(ofRow: TestPatternLayout.rows, isBottom: false, height: size.height) / 2 + 1
        for (plane, tint) in [(1, -14), (2, 10)] {
            let (stride, rows) = (room.stride(ofPlane: plane), room.rows(ofPlane: plane))
            for y in 0..<rows {
                // The cells are gray.
                let isCells = y < bar || y >= rows - bar
                let value = isCells ? 128 : 128 + tint + tint * y / rows
                memset(room.pointerForWriting(toPlane: plane) + y * stride, Int32(value), stride)
            }
        }
        return room
    }

    /// A shaded disc of skin colour, as lines to copy.
    private struct Head {
        struct Line {
            /// Where it starts, from the square's left edge.
            let start: Int
            let samples: [UInt8]
        }

        let radius: Int
        let luma: [Line]
        let blue: [Line]
        let red: [Line]

        init(radius: Int) {
            self.radius = radius
            luma = Self.lines(radius: radius) { x, y in
                let eyes = abs(abs(x) - radius / 3) < radius / 10 + 1 && abs(y + radius / 4) < radius / 14 + 1
                let mouth = abs(x) < radius / 3 && abs(y - radius / 2) < radius / 16 + 1
                return eyes || mouth ? 60 : 176 - 50 * (x * x + y * y) / (radius * radius) + 10 * x / radius
            }
            blue = Self.lines(radius: max(radius / 2, 1)) { _, _ in 112 }
            red = Self.lines(radius: max(radius / 2, 1)) { _, _ in 150 }
        }

        private static func lines(radius: Int, _ value: (_ x: Int, _ y: Int) -> Int) -> [Line] {
            (-radius..<radius).map { y in
                let half = Int(Double(radius * radius - y * y).squareRoot())
                return Line(start: radius - half, samples: (-half..<half).map { UInt8(clamping: value($0, y)) })
            }
        }
    }
}
