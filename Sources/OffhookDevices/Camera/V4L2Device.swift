internal import CV4L2
internal import Glibc
internal import OffhookMedia

/// An open video node. It belongs to one thread; its descriptor is closed with it.
final class V4L2Device {
    let path: String
    let descriptor: Int32
    /// What it calls itself.
    let name: String
    /// Where it is plugged in.
    let bus: String
    private let capabilities: UInt32

    /// Opens a node.
    ///
    /// - Throws: an `errno`; 0 for a node that is no camera.
    init(path: String) throws(SystemError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(number: errno) }
        var capability = v4l2_capability()
        guard V4L2Device.control(descriptor, cv4l2_QUERYCAP, &capability) == 0 else {
            let number = errno
            close(descriptor)
            throw SystemError(number: number)
        }
        name = text(capability.card)
        bus = text(capability.bus_info)
        let hasOwn = capability.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
        capabilities = hasOwn ? capability.device_caps : capability.capabilities
    }

    deinit {
        close(descriptor)
    }

    /// Whether it captures pictures into memory, and is neither a codec, a radio nor the metadata half of a camera.
    var isCamera: Bool {
        has(V4L2_CAP_STREAMING) && (has(V4L2_CAP_VIDEO_CAPTURE) || has(V4L2_CAP_VIDEO_CAPTURE_MPLANE))
            && !has(V4L2_CAP_VIDEO_M2M) && !has(V4L2_CAP_VIDEO_M2M_MPLANE) && !has(V4L2_CAP_TOUCH)
            && !has(V4L2_CAP_VIDEO_OUTPUT) && !has(V4L2_CAP_VIDEO_OUTPUT_MPLANE)
    }

    /// Whether pictures come in several memory planes.
    var isMultiPlanar: Bool { !has(V4L2_CAP_VIDEO_CAPTURE) }

    var bufferType: UInt32 {
        (isMultiPlanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE).rawValue
    }

    private func has(_ capability: Int32) -> Bool { capabilities & UInt32(bitPattern: capability) != 0 }

    /// Runs a request, again where a signal interrupted it; 0 or -1 with `errno`.
    func control<Argument>(_ request: UInt, _ argument: inout Argument) -> Int32 {
        Self.control(descriptor, request, &argument)
    }

    private static func control<Argument>(_ descriptor: Int32, _ request: UInt, _ argument: inout Argument) -> Int32 {
        withUnsafeMutablePointer(to: &argument) { pointer in
            var status: Int32
            repeat {
                status = ioctl(descriptor, request, UnsafeMutableRawPointer(pointer))
            } while status < 0 && errno == EINTR
            return status
        }
    }

    /// The value of a control; nil where there is no such control.
    func value(ofControl identifier: UInt32) -> Int? {
        var control = v4l2_control(id: identifier, value: 0)
        return self.control(cv4l2_G_CTRL, &control) == 0 ? Int(control.value) : nil
    }

    /// Sets a control; false where there is no such control or value.
    @discardableResult
    func setControl(_ identifier: UInt32, to value: Int) -> Bool {
        var control = v4l2_control(id: identifier, value: Int32(clamping: value))
        return self.control(cv4l2_S_CTRL, &control) == 0
    }

    /// Which way the driver says the camera looks; `isExternal` for one that can be moved about.
    var orientation: (position: CameraPosition?, isExternal: Bool) {
        switch value(ofControl: cv4l2_CID_CAMERA_ORIENTATION) {
        case Int(V4L2_CAMERA_ORIENTATION_FRONT): (.front, false)
        case Int(V4L2_CAMERA_ORIENTATION_BACK): (.back, false)
        case Int(V4L2_CAMERA_ORIENTATION_EXTERNAL): (nil, true)
        default: (nil, false)
        }
    }

    /// How the sensor is mounted: by so much clockwise pictures must be turned.
    var rotation: VideoRotation {
        value(ofControl: cv4l2_CID_CAMERA_SENSOR_ROTATION).flatMap(VideoRotation.init(rawValue:)) ?? .none
    }
}

/// A system call's error number.
struct SystemError: Error, Hashable {
    let number: Int32

    /// The system's words for it.
    var text: String { String(cString: strerror(number)) }
}

/// The text in a C array of bytes.
func text<Bytes>(_ bytes: Bytes) -> String {
    withUnsafeBytes(of: bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
