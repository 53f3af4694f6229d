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
        let tiles = Self.makeTiles()
        rooms = tiles.map { Self.makeRoom(size: size, tile: $0) }
        head = Head(radius: max(min(size.width, size.height) / 6, 2))
    }

    func draw(_ pattern: TestPattern, into buffer: VideoFrameBuffer) {
        let room = rooms[pattern.frameNumber % rooms.count]
        for plane in 0..<3 {
            buffer.pointer(toPlane: plane)
                .update(from: room.pointer(toPlane: plane), count: room.stride(ofPlane: plane) * room.rows(ofPlane: plane))
        }
        drawHead(number: pattern.frameNumber, into: buffer)
        drawCells(pattern, into: buffer)
    }

    // MARK: Moving parts

    private func drawHead(number: Int, into buffer: VideoFrameBuffer) {
        let phase = 2 * Double.pi * Double(number % 120) / 120
        let bar = size.height * TestPatternLayout.rows / TestPatternLayout.rowsInPicture
        let room = max(size.height / 2 - bar - head.radius, 0)
        // Even places, so that chroma fits.
        let left = (size.width / 2 + Int(sin(phase) * Double(size.width) / 5) - head.radius) / 2 * 2
        let top = (size.height / 2 + Int(sin(2 * phase) * Double(min(room, size.height / 16))) - head.radius) / 2 * 2
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
                    (buffer.pointer(toPlane: plane) + row * buffer.stride(ofPlane: plane) + start).update(from: from, count: count)
                }
            }
        }
    }

    private func drawCells(_ pattern: TestPattern, into buffer: VideoFrameBuffer) {
        let bits = TestPatternLayout.bits(of: pattern)
        let luma = buffer.pointer(toPlane: 0)
        let stride = buffer.stride(ofPlane: 0)
        let total = TestPatternLayout.rowsInPicture
        for row in 0..<TestPatternLayout.rows {
            for place in [row, total - TestPatternLayout.rows + row] {
                let (top, bottom) = (place * size.height / total, (place + 1) * size.height / total)
                guard bottom > top else { continue }
                let first = luma + top * stride
                for column in 0..<TestPatternLayout.columns {
                    let left = column * size.width / TestPatternLayout.columns
                    let right = (column + 1) * size.width / TestPatternLayout.columns
                    let isLight = bits[row * TestPatternLayout.columns + column]
                    memset(first + left, Int32(isLight ? TestPatternLayout.light : TestPatternLayout.dark), right - left)
                }
                for line in (top + 1)..<max(bottom, top + 1) {
                    (luma + line * stride).update(from: first, count: size.width)
                }
            }
        }
    }

    // MARK: Still parts

    /// Squares of texture, alike but for the noise.
    private static func makeTiles() -> [[Int16]] {
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
        return (0..<noiseCount).map { _ in
            texture.map { sample in
                // The sum of three small dice is near enough to a bell curve of sigma 1.6.
                let dice = random.next()
                return sample + Int16(dice & 3) + Int16(dice >> 8 & 3) + Int16(dice >> 16 & 1) - 3
            }
        }
    }

    private static func makeRoom(size: VideoSize, tile: [Int16]) -> VideoFrameBuffer {
        let room = VideoFrameBuffer(size: size)
        // Window frames and shelves: edges a camera would see.
        let pane = max(size.width / 8, 8)
        let shelf = max(size.height / 5, 8)
        fill(room, plane: 0) { x, y in
            var value = 96 + 48 * x / size.width + 32 * y / size.height
            value += Int(tile[(y % tileSize) * tileSize + x % tileSize])
            if x % pane < pane / 16 + 1 || y % shelf < shelf / 12 + 1 { value -= 40 }
            return value
        }
        let bar = room.rows(ofPlane: 1) * TestPatternLayout.rows / TestPatternLayout.rowsInPicture + 1
        for (plane, tint) in [(1, -14), (2, 10)] {
            let (columns, rows) = (room.rowBytes(ofPlane: plane), room.rows(ofPlane: plane))
            fill(room, plane: plane) { x, y in
                // The cells are gray.
                if y < bar || y >= rows - bar { return 128 }
                return 128 + tint * x / columns + tint * y / (2 * rows)
            }
        }
        return room
    }

    private static func fill(_ buffer: VideoFrameBuffer, plane: Int, _ value: (_ x: Int, _ y: Int) -> Int) {
        let stride = buffer.stride(ofPlane: plane)
        for y in 0..<buffer.rows(ofPlane: plane) {
            let row = buffer.pointer(toPlane: plane) + y * stride
            for x in 0..<buffer.rowBytes(ofPlane: plane) { row[x] = UInt8(clamping: value(x, y)) }
            // What is beyond the picture's edge is copied along, and must be defined.
            for x in buffer.rowBytes(ofPlane: plane)..<stride { row[x] = 128 }
        }
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
