import Offhook

/// The colour of a picture around a point, 0 to 1 each way: Y, U and V.
func colour(of frame: VideoFrame, _ x: Double, _ y: Double) -> [Int] {
    (0..<3).map { plane in
        frame.withPlane(plane) { span in
            let row = Int(y * Double(frame.rows(ofPlane: plane)))
            let column = Int(x * Double(frame.rowBytes(ofPlane: plane)))
            return Int(span[row * frame.stride(ofPlane: plane) + column])
        }
    }
}

/// The colours of vivid's eight bars, from below the text it writes.
func bars(of frame: VideoFrame) -> [[Int]] {
    (0..<8).map { colour(of: frame, (Double($0) + 0.5) / 8, 0.75) }
}

func isNear(_ one: [[Int]], _ other: [[Int]], by tolerance: Int) -> Bool {
    zip(one, other).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= tolerance } }
}

/// The number that the USB camera writes into its pictures: sixteen cells of sixteen pixels, highest first.
func cameraNumber(of frame: VideoFrame) -> Int {
    frame.withPlane(0) { luma in
        (0..<16).reduce(0) { number, cell in
            number << 1 | (luma[8 * frame.stride(ofPlane: 0) + cell * 16 + 8] > 128 ? 1 : 0)
        }
    }
}

/// Seconds between pictures.
func intervals(_ frames: [VideoFrame]) -> [Double] {
    zip(frames, frames.dropFirst()).map { ($1.captureTime - $0.captureTime).inSeconds }
}
