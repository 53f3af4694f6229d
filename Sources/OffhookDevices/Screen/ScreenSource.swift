internal import OffhookBasics
internal import OffhookMedia

/// Takes a screen's pictures one after another, and leaves out those that show nothing new.
final class ScreenSource: @unchecked Sendable {
    /// What others read.
    struct State: Sendable {
        var size: VideoSize
        var isConnected = true
        /// Set for a new sink, which gets a picture whatever is new.
        var isFirst = true
        var sharesMemory: Bool
    }

    let state: Lock<State>

    // Used by one block at a time, on the paced source's serial queue, which is what makes the class sendable.
    private let display: XDisplay
    private let configuration: ScreenConfiguration
    private let converter = ScreenConverter()
    private var last: (picture: XPicture, pointer: XPointer.Image?)?
    private var lastChange = Instant.zero
    private var lastSent: Instant?

    /// A picture that stands still is sent for so long, which lets the encoder make it sharp, and after that so seldom.
    private static let rest = Duration.seconds(1)

    init(_ configuration: ScreenConfiguration) throws(DeviceError) {
        self.configuration = configuration
        display = try XDisplay(name: configuration.display)
        state = Lock(State(size: display.size, sharesMemory: display.sharesMemory))
    }

    func next(due: Instant) -> VideoFrame? {
        guard let picture = display.grab(configuration.area) else {
            state.withLock { $0.isConnected = display.isConnected }
            return nil
        }
        let pointer = configuration.showsPointer ? display.pointerImage() : nil
        let isFirst = state.withLock { state in
            state.size = display.size
            state.sharesMemory = display.sharesMemory
            defer { state.isFirst = false }
            return state.isFirst
        }
        if !picture.isSame(as: last?.picture) || pointer != last?.pointer { lastChange = due }
        last = (picture, pointer)
        let isResting = due - lastChange >= Self.rest
        if !isFirst, isResting, let lastSent, due - lastSent < Self.rest { return nil }
        lastSent = due
        let origin = configuration.area.map { (x: max($0.x, 0), y: max($0.y, 0)) } ?? (0, 0)
        let buffer = converter.convert(picture, pointer: pointer, origin: origin, within: configuration.maximumSize)
        return VideoFrame(buffer: buffer, captureTime: due, content: .screen)
    }
}

extension XPicture {
    fileprivate func isSame(as other: XPicture?) -> Bool {
        other.map { shows($0) } ?? false
    }
}
