internal import OffhookMedia

/// A terminal's size in characters.
struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int
}

/// Turns pixels into what a terminal draws them with. It belongs to one thread at a time.
///
/// A character is about twice as high as it is wide, so that its upper and lower half are a square pixel each: the upper one
/// in the character's colour, the lower one in the background's.
struct TerminalPainter {
    /// A pixel as red, green and blue, 8 bits each from the highest.
    typealias Pixel = UInt32

    /// One character of the picture.
    private struct Cell: Hashable {
        var upper: Pixel
        var lower: Pixel
    }

    let colors: TerminalConfiguration.Colors
    private var drawn: [Cell?] = []
    private var size = TerminalSize(columns: 0, rows: 0)

    init(colors: TerminalConfiguration.Colors) {
        self.colors = colors
    }

    /// What a renewed screen needs: nothing of what was drawn before is there any more.
    mutating func forget() {
        drawn = []
    }

    /// The bytes that draw a canvas of `columns × 2 rows` pixels at the top left, as far as it differs from the one before.
    mutating func draw(_ pixels: [Pixel], size: TerminalSize) -> [UInt8] {
        if size != self.size || drawn.count != size.columns * size.rows {
            drawn = [Cell?](repeating: nil, count: size.columns * size.rows)
            self.size = size
        }
        var output: [UInt8] = []
        var (front, back): (Pixel?, Pixel?) = (nil, nil)
        for row in 0..<size.rows {
            var cursor: Int?
            for column in 0..<size.columns {
                let cell = Cell(
                    upper: shown(pixels[2 * row * size.columns + column]),
                    lower: shown(pixels[(2 * row + 1) * size.columns + column]))
                guard drawn[row * size.columns + column] != cell else { continue }
                drawn[row * size.columns + column] = cell
                if cursor != column { output += Array("\u{1B}[\(row + 1);\(column + 1)H".utf8) }
                if colors != .none {
                    if front != cell.upper { output += Array("\u{1B}[38;\(code(cell.upper))m".utf8) }
                    if back != cell.lower { output += Array("\u{1B}[48;\(code(cell.lower))m".utf8) }
                    (front, back) = (cell.upper, cell.lower)
                }
                output += character(for: cell)
                cursor = column + 1
            }
        }
        if front != nil { output += Array("\u{1B}[0m".utf8) }
        return output
    }

    /// A pixel as the terminal can show it. Differences that nobody sees are left out, which spares much of the drawing.
    private func shown(_ pixel: Pixel) -> Pixel {
        switch colors {
        case .full: pixel & 0xFC_FCFC
        case .palette: Pixel(Self.paletteIndex(pixel))
        case .none: Pixel(Self.brightness(pixel) / 16)
        }
    }

    private func code(_ pixel: Pixel) -> String {
        switch colors {
        case .full: "2;\(pixel >> 16 & 255);\(pixel >> 8 & 255);\(pixel & 255)"
        case .palette, .none: "5;\(pixel)"
        }
    }

    private func character(for cell: Cell) -> [UInt8] {
        guard colors == .none else { return Array("▀".utf8) }
        let ramp = Self.ramp
        return [ramp[min(Int(cell.upper + cell.lower) * ramp.count / 32, ramp.count - 1)]]
    }

    /// From dark to bright on a dark ground.
    private static let ramp = Array(" .:-=+*#%@".utf8)

    private static func brightness(_ pixel: Pixel) -> Int {
        (Int(pixel >> 16 & 255) * 77 + Int(pixel >> 8 & 255) * 150 + Int(pixel & 255) * 29) / 256
    }

    /// The nearest of the palette's cube of 6 × 6 × 6 colours, or of its 24 grays where the pixel is nearly gray.
    static func paletteIndex(_ pixel: Pixel) -> Int {
        let (red, green, blue) = (Int(pixel >> 16 & 255), Int(pixel >> 8 & 255), Int(pixel & 255))
        if max(red, green, blue) - min(red, green, blue) < 10 {
            let gray = (red + green + blue) / 3
            if gray < 4 { return 16 }
            if gray > 246 { return 231 }
            return 232 + min(max((gray - 3) / 10, 0), 23)
        }
        // The cube's steps are 0, 95, 135, 175, 215 and 255.
        func step(_ value: Int) -> Int { value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40 }
        return 16 + 36 * step(red) + 6 * step(green) + step(blue)
    }
}
