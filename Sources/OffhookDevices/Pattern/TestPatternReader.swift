public import OffhookMedia

/// Reads the number and the clock out of a picture of ``TestPatternCapturer``, however it was coded or scaled since, and
/// turned by quarters.
public struct TestPatternReader: Sendable {
    /// Makes a reader.
    public init() {}

    /// What the picture says; nil where it is none of ours or is damaged beyond reading.
    public func read(_ frame: VideoFrame) -> TestPattern? {
        frame.withPlane(0) { luma in
            for rotation in VideoRotation.allCases {
                let picture = Picture(
                    width: frame.width, height: frame.height, stride: frame.stride(ofPlane: 0), rotation: rotation)
                if var pattern = picture.pattern(in: luma) {
                    pattern.rotation = rotation
                    return pattern
                }
            }
            return nil
        }
    }

    private struct Picture {
        let width: Int
        let height: Int
        let stride: Int
        let rotation: VideoRotation

        func pattern(in luma: Span<UInt8>) -> TestPattern? {
            let top = levels(isBottom: false, in: luma)
            if let pattern = pattern(top) { return pattern }
            let bottom = levels(isBottom: true, in: luma)
            if let pattern = pattern(bottom) { return pattern }
            // Each copy may be damaged in another place.
            return pattern(zip(top, bottom).map(+))
        }

        private func pattern(_ levels: [Int]) -> TestPattern? {
            guard let least = levels.min(), let most = levels.max(), most - least > 40 * Self.samples * Self.samples
            else { return nil }
            return TestPatternLayout.pattern(of: levels.map { 2 * $0 > least + most })
        }

        private static let samples = 4

        /// The brightness of each cell of a bar: the sum of a few samples from its middle.
        private func levels(isBottom: Bool, in luma: Span<UInt8>) -> [Int] {
            var levels: [Int] = []
            levels.reserveCapacity(TestPatternLayout.rows * TestPatternLayout.columns)
            for row in 0..<TestPatternLayout.rows {
                for column in 0..<TestPatternLayout.columns {
                    var sum = 0
                    for down in 0..<Self.samples {
                        let y = TestPatternLayout.place(row: Double(row) + Self.middle(down), isBottom: isBottom)
                        for across in 0..<Self.samples {
                            let x = (Double(column) + Self.middle(across)) / Double(TestPatternLayout.columns)
                            sum += Int(luma[offset(x, y)])
                        }
                    }
                    levels.append(sum)
                }
            }
            return levels
        }

        /// Places within the middle two fifths of a cell.
        private static func middle(_ sample: Int) -> Double {
            0.3 + 0.4 * (Double(sample) + 0.5) / Double(samples)
        }

        /// Where a point of the upright picture, 0 to 1 each way, is in memory.
        private func offset(_ x: Double, _ y: Double) -> Int {
            let (column, row) =
                switch rotation {
                case .none: (x, y)
                case .quarter: (y, 1 - x)
                case .half: (1 - x, 1 - y)
                case .threeQuarters: (1 - y, x)
                }
            return min(Int(row * Double(height)), height - 1) * stride + min(Int(column * Double(width)), width - 1)
        }
    }
}
