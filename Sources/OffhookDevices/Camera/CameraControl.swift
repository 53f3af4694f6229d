internal import CV4L2

/// A setting of a camera that its driver has: brightness, exposure, focus, mains frequency and others.
public struct CameraControl: Hashable, Sendable, Identifiable {
    /// Names a control as V4L2 numbers it. Drivers have more than those named here.
    public struct ID: RawRepresentable, Hashable, Sendable {
        /// V4L2's number.
        public let rawValue: UInt32

        /// Makes a name of V4L2's number.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// How bright the picture is.
        public static let brightness = ID(rawValue: cv4l2_CID_BRIGHTNESS)
        /// How far dark and bright are apart.
        public static let contrast = ID(rawValue: cv4l2_CID_CONTRAST)
        /// How strong colours are.
        public static let saturation = ID(rawValue: cv4l2_CID_SATURATION)
        /// By how much the sensor's signal is amplified.
        public static let gain = ID(rawValue: cv4l2_CID_GAIN)
        /// Whether the camera finds out what is white.
        public static let automaticWhiteBalance = ID(rawValue: cv4l2_CID_AUTO_WHITE_BALANCE)
        /// Against flicker of lamps: a menu with off, 50 Hz, 60 Hz, and automatic where there is that.
        public static let powerLineFrequency = ID(rawValue: cv4l2_CID_POWER_LINE_FREQUENCY)
        /// Who chooses exposure: a menu.
        public static let exposureMode = ID(rawValue: cv4l2_CID_EXPOSURE_AUTO)
        /// How long a picture is exposed, in 100 µs, where the mode is manual.
        public static let exposureTime = ID(rawValue: cv4l2_CID_EXPOSURE_ABSOLUTE)
        /// Whether exposure may lower the picture rate.
        public static let exposureLowersRate = ID(rawValue: cv4l2_CID_EXPOSURE_AUTO_PRIORITY)
        /// Whether the camera focuses by itself.
        public static let automaticFocus = ID(rawValue: cv4l2_CID_FOCUS_AUTO)
        /// How near the camera focuses, where it does not by itself, in units of its own.
        public static let focus = ID(rawValue: cv4l2_CID_FOCUS_ABSOLUTE)
        /// The zoom, in units of its own.
        public static let zoom = ID(rawValue: cv4l2_CID_ZOOM_ABSOLUTE)
    }

    /// What values a control takes.
    public enum Kind: Hashable, Sendable {
        /// Numbers of ``CameraControl/range`` in steps.
        case number
        /// 0 or 1.
        case toggle
        /// One of these values, each with its name.
        case menu([Int: String])
    }

    /// Which control it is.
    public var id: ID
    /// What the driver calls it.
    public var name: String
    /// What values it takes.
    public var kind: Kind
    /// The lowest and the highest value.
    public var range: ClosedRange<Int>
    /// What values are apart.
    public var step: Int
    /// The value that the driver begins with.
    public var defaultValue: Int
    /// The value as it was when the control was listed.
    public var value: Int
    /// Whether it can be set now: not where it only tells something, or where another control has it in hand, as
    /// automatic focus has ``ID/focus``.
    public var isSettable: Bool

    /// Whether the value is one that the control has.
    func takes(_ value: Int) -> Bool {
        switch kind {
        case .number: range.contains(value) && (value - range.lowerBound) % step == 0
        case .toggle: value == 0 || value == 1
        case .menu(let choices): choices[value] != nil
        }
    }

    /// What to choose from.
    var wordsForValues: String {
        switch kind {
        case .number: "\(range.lowerBound) to \(range.upperBound)" + (step > 1 ? " in steps of \(step)" : "")
        case .toggle: "0 or 1"
        case .menu(let choices):
            choices.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
        }
    }
}
