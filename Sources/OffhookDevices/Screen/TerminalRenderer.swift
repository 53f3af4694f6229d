internal import CYUV
internal import Dispatch
internal import Glibc
internal import OffhookBasics
public import OffhookMedia

/// Draws pictures in a terminal, with two pixels to a character, for machines without a display.
///
/// The picture takes the terminal from the top, as far as its aspect and the rows that are left for text allow, and follows
/// the terminal's size. It is drawn on a queue of the renderer's own, the newest in place of an older one, so that a slow
/// terminal holds nobody up. All methods may be called on any thread.
public final class TerminalRenderer: VideoSink {
    /// How it draws.
    public let configuration: TerminalConfiguration

    private struct State: @unchecked Sendable {
        // The painter is used with the lock around this value held only.
        var painter: TerminalPainter
        let upright = UprightPicture()
        var size: TerminalSize?
        var isClosed = false
        var error: DeviceError?
        var frameCount = 0
    }

    private struct Waiting {
        var frame: VideoFrame?
        var isScheduled = false
        var next = Instant(nanoseconds: .min)
    }

    private let state: Lock<State>
    private let waiting = Lock(Waiting())
    private let interval: Duration
    private let queue = DispatchQueue(label: "offhook.terminal", qos: .userInitiated)

    /// Makes a renderer, which draws nothing before the first picture.
    public init(configuration: TerminalConfiguration = .init()) {
        self.configuration = configuration
        let rate = configuration.frameRate.isFinite ? min(max(configuration.frameRate, 0.1), 60) : 10
        interval = .nanoseconds(Int64(1e9 / rate))
        let colors =
            configuration.colors ?? .detected { name in getenv(name).map { String(cString: $0) } }
        state = Lock(State(painter: TerminalPainter(colors: colors)))
    }

    /// Why nothing is drawn any more, where writing failed.
    public var error: DeviceError? { state.withLock { $0.error } }

    /// How many pictures were drawn.
    public var frameCount: Int { state.withLock { $0.frameCount } }

    /// Leaves a picture to be drawn.
    public func handleVideoFrame(_ frame: VideoFrame) {
        let now = MonotonicClock.now
        let delay = waiting.withLock { waiting -> Duration? in
            waiting.frame = frame
            guard !waiting.isScheduled else { return nil }
            waiting.isScheduled = true
            return max(waiting.next - now, .zero)
        }
        guard let delay else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.inNanoseconds))) { [weak self] in self?.drawNewest()
        }
    }

    /// Draws what waits, and gives the whole terminal back to text. Pictures that come later are dropped.
    public func close() {
        queue.sync {
            drawNewest()
            state.withLock { state in
                guard !state.isClosed else { return }
                state.isClosed = true
                guard let size = state.size else { return }
                // No scrolling region, the cursor below the picture.
                write(Array("\u{1B}[r\u{1B}[\(size.rows);1H\u{1B}[0m\n".utf8), &state)
            }
        }
    }

    private func drawNewest() {
        let frame = waiting.withLock { waiting in
            defer { waiting = Waiting(next: MonotonicClock.now + interval) }
            return waiting.frame
        }
        guard let frame else { return }
        state.withLock { state in
            guard !state.isClosed, state.error == nil else { return }
            draw(frame, &state)
        }
    }

    private func draw(_ frame: VideoFrame, _ state: inout State) {
        let terminal = terminalSize
        let rows = max(terminal.rows - max(configuration.reservedRows, 0), 1)
        var output: [UInt8] = []
        if state.size != terminal {
            state.size = terminal
            state.painter.forget()
            // A clear screen; where rows are left for text it scrolls there alone, and begins there.
            output += Array("\u{1B}[r\u{1B}[2J".utf8)
            if rows < terminal.rows {
                output += Array("\u{1B}[\(rows + 1);\(terminal.rows)r\u{1B}[\(rows + 1);1H".utf8)
            }
        }
        let size = TerminalSize(columns: terminal.columns, rows: rows)
        guard let pixels = canvas(of: frame, size, upright: state.upright) else { return }
        // The cursor stays where it is for those who write text.
        output += Array("\u{1B}7".utf8) + state.painter.draw(pixels, size: size) + Array("\u{1B}8".utf8)
        write(output, &state)
        state.frameCount += 1
    }

    /// The picture in the middle of a dark canvas of two pixels to a character.
    private func canvas(
        of frame: VideoFrame, _ size: TerminalSize, upright: UprightPicture
    ) -> [TerminalPainter.Pixel]? {
        let canvas = VideoSize(width: size.columns, height: size.rows * 2)
        let place = WindowLayout(window: canvas).place(frame.uprightSize)
        guard let picture = upright.make(of: frame, size: place.size) else { return nil }
        var pixels = [TerminalPainter.Pixel](repeating: 0, count: canvas.width * canvas.height)
        pixels.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            // The library's ARGB is a little-endian word of alpha, red, green and blue.
            I420ToARGB(
                picture.pointer(toPlane: 0), Int32(picture.stride(ofPlane: 0)), picture.pointer(toPlane: 1),
                Int32(picture.stride(ofPlane: 1)), picture.pointer(toPlane: 2), Int32(picture.stride(ofPlane: 2)),
                start + (place.y * canvas.width + place.x) * 4, Int32(canvas.width * 4), Int32(place.width),
                Int32(place.height))
        }
        return pixels
    }

    private var terminalSize: TerminalSize {
        // `struct winsize`: rows, columns, and the same in pixels.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(configuration.descriptor, UInt(TIOCGWINSZ), &size) == 0, size[0] > 0, size[1] > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size[1]), rows: Int(size[0]))
    }

    private func write(_ bytes: [UInt8], _ state: inout State) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.write(configuration.descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                // Another program has set the terminal so. Wait until it takes more.
                var wait = pollfd(fd: configuration.descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, 1000)
            } else if errno != EINTR {
                state.error = DeviceError(writing: "the terminal", number: errno)
                return
            }
        }
    }
}
