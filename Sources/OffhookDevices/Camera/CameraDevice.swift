public import OffhookMedia

/// Which way a camera looks.
public enum CameraPosition: String, Hashable, Sendable, CaseIterable, Codable {
    /// At the person in front of the device.
    case front
    /// Away from them.
    case back
}

/// How a camera lays out its pixels: the four-character code of the driver, as in `YUYV` or `MJPG`.
public struct CameraPixelFormat: Hashable, Sendable, CustomStringConvertible {
    /// The code as V4L2 numbers it: the first character in the lowest byte.
    public let code: UInt32

    /// Makes a format of V4L2's number for it.
    public init(code: UInt32) {
        self.code = code
    }

    /// Makes a format of its four characters; shorter codes are filled up with blanks, as V4L2 does.
    public init(_ characters: StaticString) {
        var code: UInt32 = 0
        for index in 0..<4 {
            let byte = index < characters.utf8CodeUnitCount ? characters.utf8Start[index] : UInt8(ascii: " ")
            code |= UInt32(byte) << UInt32(8 * index)
        }
        self.code = code
    }

    /// The four characters.
    public var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> UInt32(8 * $0)) & 0x7F }
        var text = String(decoding: bytes, as: UTF8.self)
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// A picture format that a camera has.
public struct CameraFormat: Hashable, Sendable {
    /// The layout of the pixels.
    public var pixelFormat: CameraPixelFormat
    /// The picture's size.
    public var size: VideoSize
    /// Pictures a second, highest first; empty where the driver does not tell.
    public var frameRates: [Double]

    /// Makes a format.
    public init(pixelFormat: CameraPixelFormat, size: VideoSize, frameRates: [Double]) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.frameRates = frameRates
    }
}

/// A camera that is plugged in, as it was when it was listed.
public struct CameraDevice: Hashable, Sendable, Identifiable {
    /// What stays the same when the camera is unplugged and plugged in again: bus, card name and serial number. Node
    /// paths do not.
    public var id: String
    /// What the driver calls it, as in `HD Webcam C525`.
    public var name: String
    /// The device node, as in `/dev/video0`; it may be another one after replugging.
    public var path: String
    /// Where it is plugged in, as in `usb-0000:00:14.0-1`.
    public var bus: String
    /// Which way it looks: what the driver says (`V4L2_CID_CAMERA_ORIENTATION`), else what the configuration says, else
    /// the first camera is the front one and the second the back one. Nil for cameras after those, or external ones.
    public var position: CameraPosition?
    /// The formats that can be used, in the driver's order.
    public var formats: [CameraFormat]

    /// Makes a device.
    public init(
        id: String, name: String, path: String, bus: String, position: CameraPosition? = nil,
        formats: [CameraFormat] = []
    ) {
        self.id = id
        self.name = name
        self.path = path
        self.bus = bus
        self.position = position
        self.formats = formats
    }
}
