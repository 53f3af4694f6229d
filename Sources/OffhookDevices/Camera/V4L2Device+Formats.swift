internal import CV4L2
internal import OffhookMedia

extension V4L2Device {
    /// Sizes to list where a driver takes any within a range.
    private static let commonSizes = [
        (160, 120), (320, 180), (320, 240), (640, 360), (640, 480), (800, 600), (960, 540), (1280, 720), (1280, 960),
        (1920, 1080), (2560, 1440), (3840, 2160),
    ]
    /// Rates to list where a driver takes any within a range.
    private static let commonRates = [60.0, 50, 30, 25, 20, 15, 10, 5]

    /// The formats that can be converted, with their sizes and rates.
    func formats() -> [CameraFormat] {
        var formats: [CameraFormat] = []
        var index: UInt32 = 0
        while index < 256 {
            var description = v4l2_fmtdesc()
            description.index = index
            description.type = bufferType
            guard control(cv4l2_ENUM_FMT, &description) == 0 else { break }
            index += 1
            let pixelFormat = CameraPixelFormat(code: description.pixelformat)
            guard PixelConverter.pixelFormats.contains(pixelFormat) else { continue }
            for size in sizes(of: pixelFormat) {
                formats.append(
                    CameraFormat(pixelFormat: pixelFormat, size: size, frameRates: rates(of: pixelFormat, size: size)))
            }
        }
        return formats
    }

    private func sizes(of pixelFormat: CameraPixelFormat) -> [VideoSize] {
        var sizes: [VideoSize] = []
        var index: UInt32 = 0
        while index < 256 {
            var size = v4l2_frmsizeenum()
            size.index = index
            size.pixel_format = pixelFormat.code
            guard control(cv4l2_ENUM_FRAMESIZES, &size) == 0 else { break }
            index += 1
            if size.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                sizes.append(VideoSize(width: Int(size.discrete.width), height: Int(size.discrete.height)))
                continue
            }
            let range = size.stepwise
            for (width, height) in Self.commonSizes where range.holds(width: width, height: height) {
                sizes.append(VideoSize(width: width, height: height))
            }
            break
        }
        if sizes.isEmpty, let current = currentSize() { sizes = [current] }
        return sizes
    }

    /// The size that is set, for drivers that list none.
    private func currentSize() -> VideoSize? {
        var format = v4l2_format()
        format.type = bufferType
        guard control(cv4l2_G_FMT, &format) == 0 else { return nil }
        let (width, height) =
            isMultiPlanar
            ? (format.fmt.pix_mp.width, format.fmt.pix_mp.height) : (format.fmt.pix.width, format.fmt.pix.height)
        return width > 0 && height > 0 ? VideoSize(width: Int(width), height: Int(height)) : nil
    }

    private func rates(of pixelFormat: CameraPixelFormat, size: VideoSize) -> [Double] {
        var rates: [Double] = []
        var index: UInt32 = 0
        while index < 256 {
            var interval = v4l2_frmivalenum()
            interval.index = index
            interval.pixel_format = pixelFormat.code
            interval.width = UInt32(size.width)
            interval.height = UInt32(size.height)
            guard control(cv4l2_ENUM_FRAMEINTERVALS, &interval) == 0 else { break }
            index += 1
            if interval.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue {
                if let rate = interval.discrete.rate { rates.append(rate) }
                continue
            }
            if let highest = interval.stepwise.min.rate, let lowest = interval.stepwise.max.rate {
                rates = Self.commonRates.filter { $0 <= highest * 1.001 && $0 >= lowest * 0.999 }
            }
            break
        }
        return rates.sorted(by: >)
    }
}

extension v4l2_fract {
    /// Pictures a second of an interval.
    fileprivate var rate: Double? { numerator > 0 ? Double(denominator) / Double(numerator) : nil }
}

extension v4l2_frmsize_stepwise {
    fileprivate func holds(width: Int, height: Int) -> Bool {
        func holds(_ value: Int, _ least: UInt32, _ most: UInt32, _ step: UInt32) -> Bool {
            value >= Int(least) && value <= Int(most) && (value - Int(least)) % max(Int(step), 1) == 0
        }
        return holds(width, min_width, max_width, step_width) && holds(height, min_height, max_height, step_height)
    }
}
