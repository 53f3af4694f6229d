internal import Glibc
internal import OffhookMedia

/// The rule by which one of a camera's formats is chosen for a wanted size and rate.
///
/// Each format gets a penalty, and the lowest wins:
/// - size: the base-2 logarithm of the pixel counts' ratio, whichever is larger, and 0.5 more for another shape;
/// - rate: twice the base-2 logarithm of what its highest rate falls short, unless it is within a tenth. A format that
///   does not tell its rates counts as fast enough.
///
/// So 640x480 at 30 a second is preferred to 1280x720 at 10, and 1280x720 MJPEG at 30 to both. Among equals the format
/// that takes the least conversion wins: planar before packed before RGB before MJPEG.
struct CameraFormatChoice {
    let format: CameraFormat
    /// The rate to set: the lowest that is enough, else the highest; nil where the format tells none.
    let frameRate: Double?

    /// Chooses among formats; nil where there is none that can be converted.
    init?(from formats: [CameraFormat], size: VideoSize, frameRate: Double) {
        var best: (format: CameraFormat, penalty: Double, rank: Int)?
        for format in formats {
            guard let rank = PixelConverter.pixelFormats.firstIndex(of: format.pixelFormat),
                format.size.width > 0, format.size.height > 0
            else { continue }
            let penalty = Self.penalty(of: format, size: size, frameRate: frameRate)
            if let best, (best.penalty, best.rank) <= (penalty, rank) { continue }
            best = (format, penalty, rank)
        }
        guard let best else { return nil }
        self.init(best.format, frameRate: frameRate)
    }

    /// Uses a format that was chosen by someone else.
    init(_ format: CameraFormat, frameRate: Double) {
        self.format = format
        self.frameRate = format.frameRates.filter { $0 >= 0.98 * frameRate }.min() ?? format.frameRates.max()
    }

    private static func penalty(of format: CameraFormat, size: VideoSize, frameRate: Double) -> Double {
        let pixels = Double(format.size.width) * Double(format.size.height)
        let wanted = Double(max(size.width, 1)) * Double(max(size.height, 1))
        var penalty = abs(log2(pixels / wanted))
        let shape = Double(format.size.width) / Double(format.size.height)
        let wantedShape = Double(max(size.width, 1)) / Double(max(size.height, 1))
        if abs(shape / wantedShape - 1) > 0.05 { penalty += 0.5 }
        if let highest = format.frameRates.max(), highest > 0, highest < 0.9 * frameRate {
            penalty += 2 * log2(frameRate / highest)
        }
        return penalty
    }
}
