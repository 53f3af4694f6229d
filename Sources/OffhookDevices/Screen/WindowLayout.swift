internal import OffhookMedia

/// A rectangle of whole pixels, from the top left.
struct PixelRectangle: Hashable, Sendable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    var size: VideoSize { VideoSize(width: width, height: height) }

    func outset(by margin: Int) -> PixelRectangle {
        PixelRectangle(x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin)
    }
}

/// Where pictures go in a window.
struct WindowLayout: Hashable, Sendable {
    let window: VideoSize
    /// The share of the window's sides that one's own picture has at most.
    var selfViewShare = 0.24

    /// Where a picture goes that fills the window as far as its aspect allows, in the middle.
    func place(_ picture: VideoSize) -> PixelRectangle {
        let size = Self.fit(picture, in: window)
        return PixelRectangle(
            x: (window.width - size.width) / 2, y: (window.height - size.height) / 2, width: size.width,
            height: size.height)
    }

    /// Where one's own picture goes, at the bottom right; nil where the window is too small to show two.
    func placeSelfView(_ picture: VideoSize) -> PixelRectangle? {
        let share = min(max(selfViewShare, 0.05), 0.5)
        let room = VideoSize(
            width: Int(Double(window.width) * share), height: Int(Double(window.height) * share))
        guard room.width >= 24, room.height >= 24 else { return nil }
        let size = Self.fit(picture, in: room)
        let margin = max(min(window.width, window.height) / 36, 4)
        return PixelRectangle(
            x: window.width - size.width - margin, y: window.height - size.height - margin, width: size.width,
            height: size.height)
    }

    /// The largest size of the picture's aspect that has room, of a pixel at least.
    private static func fit(_ picture: VideoSize, in room: VideoSize) -> VideoSize {
        guard picture.width > 0, picture.height > 0, room.width > 0, room.height > 0 else {
            return VideoSize(width: 1, height: 1)
        }
        let scale = min(
            Double(room.width) / Double(picture.width), Double(room.height) / Double(picture.height))
        return VideoSize(
            width: max(Int((Double(picture.width) * scale).rounded()), 1),
            height: max(Int((Double(picture.height) * scale).rounded()), 1))
    }
}

extension VideoFrame {
    /// The size as it is shown, upright.
    var uprightSize: VideoSize {
        switch rotation {
        case .none, .half: size
        case .quarter, .threeQuarters: VideoSize(width: height, height: width)
        }
    }
}
