internal import CSDL
internal import Dispatch
internal import Glibc
internal import OffhookBasics
internal import OffhookMedia

/// The one thread of the process that calls SDL, for all windows there are.
///
/// It starts with the first window and ends, with SDL put away, after the last, so that SDL's rule is kept: video calls
/// and events belong to the thread that started video.
final class WindowThread: Sendable {
    static let shared = WindowThread()

    /// What is on the screen. It never leaves the thread.
    private final class Desk {
        let sdl: csdl_functions
        var windows: [UInt32: SDLWindow] = [:]

        init(sdl: csdl_functions) { self.sdl = sdl }

        func open(_ configuration: WindowConfiguration, _ mailbox: WindowMailbox) throws(DeviceError) -> UInt32 {
            let window = try SDLWindow(sdl: sdl, configuration: configuration, mailbox: mailbox)
            windows[window.number] = window
            return window.number
        }
    }

    private enum Job {
        /// Opens a window, and starts SDL for it where it does not run.
        case open(WindowConfiguration, WindowMailbox, reply: @Sendable (Result<UInt32, DeviceError>) -> Void)
        /// Does something with a window, where it is still there.
        case change(UInt32, @Sendable (SDLWindow) -> Void)
        case close(UInt32)
        /// Closes all windows; the process ends.
        case quit(reply: @Sendable () -> Void)
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        var thread: pthread_t?
        /// Set while SDL waits for events: how to end that wait.
        var wakeUp: (functions: csdl_functions, event: UInt32)?
        var isWakeUpSent = false
    }

    private let state = Lock(State())

    /// Opens a window and waits for it.
    func open(_ configuration: WindowConfiguration, _ mailbox: WindowMailbox) throws(DeviceError) -> UInt32 {
        let answer = Lock(Result<UInt32, DeviceError>.success(0))
        let isAnswered = DispatchSemaphore(value: 0)
        let isToStart = state.withLock { state in
            state.jobs.append(
                .open(configuration, mailbox) { result in
                    answer.withLock { $0 = result }
                    isAnswered.signal()
                })
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isToStart {
            startDetachedThread { [self] in run() }
        } else {
            wake()
        }
        isAnswered.wait()
        return try answer.withLock { $0 }.get()
    }

    /// Does something with a window on the thread, after what was asked before; nothing where it is gone.
    func change(_ number: UInt32, _ body: @escaping @Sendable (SDLWindow) -> Void) {
        add(.change(number, body))
    }

    /// Closes a window, where it is still there.
    func close(_ number: UInt32) {
        add(.close(number))
    }

    private func add(_ job: Job) {
        // Where the thread does not run there is no window.
        state.withLock { if $0.isRunning { $0.jobs.append(job) } }
        wake()
    }

    /// Lets the thread look for new pictures and jobs.
    func wake() {
        // With the lock held, so that SDL is not put away meanwhile. Pushing an event does not wait.
        state.withLock { state in
            guard let wakeUp = state.wakeUp, !state.isWakeUpSent else { return }
            var event = SDL_Event()
            event.type = wakeUp.event
            state.isWakeUpSent = wakeUp.functions.SDL_PushEvent(&event) == 1
        }
    }

    // MARK: On the thread

    private func run() {
        var desk: Desk?
        state.withLock { $0.thread = pthread_self() }
        while true {
            while let job = takeJob() {
                perform(job, at: &desk)
                endIfEmpty(&desk)
            }
            if let current = desk {
                for window in current.windows.values { window.draw() }
                handleEvents(of: current)
                endIfEmpty(&desk)
                continue
            }
            let isOver = state.withLock { state in
                state.isRunning = !state.jobs.isEmpty
                return !state.isRunning
            }
            if isOver { return }
        }
    }

    private func perform(_ job: Job, at desk: inout Desk?) {
        switch job {
        case .open(let configuration, let mailbox, let reply):
            do throws(DeviceError) {
                if desk == nil { desk = try start() }
                guard let desk else { return }
                reply(.success(try desk.open(configuration, mailbox)))
            } catch {
                reply(.failure(error))
            }
        case .change(let number, let body):
            if let window = desk?.windows[number] { body(window) }
        case .close(let number):
            desk?.windows.removeValue(forKey: number)?.close()
        case .quit(let reply):
            for window in desk?.windows.values.map(\.self) ?? [] { window.close() }
            desk?.windows = [:]
            endIfEmpty(&desk)
            reply()
        }
    }

    private func takeJob() -> Job? {
        state.withLock { state in
            state.isWakeUpSent = false
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }

    private func start() throws(DeviceError) -> Desk {
        let sdl = try SDLLibrary.functions()
        Self.endsWithProcess
        // Signals belong to the app.
        _ = sdl.SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
        _ = sdl.SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear")
        // So is the end of the program; what is left of that event is a Wayland server that went away.
        _ = sdl.SDL_SetHint(SDL_HINT_QUIT_ON_LAST_WINDOW_CLOSE, "0")
        // Without a folder for its socket there is no Wayland, and its library would say so on standard error.
        let hasRuntimeFolder = getenv("XDG_RUNTIME_DIR") != nil
        _ = sdl.SDL_SetHint(SDL_HINT_VIDEODRIVER, hasRuntimeFolder ? nil : "x11,KMSDRM")
        // Decoded video is ITU-R BT.601 whatever its size.
        sdl.SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_BT601)
        guard sdl.SDL_InitSubSystem(SDL_INIT_VIDEO) == 0 else {
            throw Self.noDisplay(hasRuntimeFolder ? sdl.lastError : "")
        }
        // Where nothing else works SDL draws to nowhere, which only those who ask for it want.
        if sdl.SDL_GetCurrentVideoDriver().map({ String(cString: $0) }) == "offscreen",
            getenv("SDL_VIDEODRIVER") == nil
        {
            sdl.SDL_QuitSubSystem(SDL_INIT_VIDEO)
            throw Self.noDisplay("")
        }
        let event = sdl.SDL_RegisterEvents(1)
        state.withLock { $0.wakeUp = (sdl, event) }
        return Desk(sdl: sdl)
    }

    /// A process that ends takes its libraries down, whatever threads are in them: windows are closed before. Asked for
    /// once the libraries are there, as those that came last go first.
    private static let endsWithProcess: Void = {
        atexit { WindowThread.shared.closeAll() }
    }()

    /// Closes all windows and waits for that.
    func closeAll() {
        let isDone = DispatchSemaphore(value: 0)
        let isToWait = state.withLock { state in
            guard state.isRunning, state.thread.map({ pthread_equal($0, pthread_self()) != 0 }) != true else {
                return false
            }
            state.jobs.append(.quit { isDone.signal() })
            return true
        }
        guard isToWait else { return }
        wake()
        // A display that does not answer does not keep the process.
        _ = isDone.wait(timeout: .now() + .seconds(2))
    }

    private static func noDisplay(_ reason: String) -> DeviceError {
        DeviceError(
            .noDisplay,
            "There is no display to open a window on\(reason.isEmpty ? "" : " (\(reason))"); set DISPLAY or"
                + " WAYLAND_DISPLAY, or show pictures elsewhere.")
    }

    /// Puts SDL away after the last window.
    private func endIfEmpty(_ desk: inout Desk?) {
        guard let current = desk, current.windows.isEmpty else { return }
        state.withLock { state in
            state.wakeUp = nil
            state.isWakeUpSent = false
        }
        current.sdl.SDL_QuitSubSystem(SDL_INIT_VIDEO)
        desk = nil
    }

    private func handleEvents(of desk: Desk) {
        var event = SDL_Event()
        // Whatever does not come as an event, such as a last picture's time, is looked after this often.
        guard desk.sdl.SDL_WaitEventTimeout(&event, 250) == 1 else { return }
        repeat {
            if event.type == SDL_QUIT.rawValue {
                for window in desk.windows.values { window.closeAndTell() }
                desk.windows = [:]
            }
            if let window = desk.windows[event.windowNumber] {
                window.handle(event)
                if window.isClosed { desk.windows[window.number] = nil }
            }
            if event.type == SDL_RENDER_TARGETS_RESET.rawValue || event.type == SDL_RENDER_DEVICE_RESET.rawValue {
                for window in desk.windows.values { window.renew() }
            }
        } while desk.sdl.SDL_PollEvent(&event) == 1
    }
}

extension SDL_Event {
    /// The window that the event concerns; 0 for none.
    fileprivate var windowNumber: UInt32 {
        switch SDL_EventType(type) {
        case SDL_WINDOWEVENT: window.windowID
        case SDL_KEYDOWN: key.windowID
        case SDL_TEXTINPUT: text.windowID
        case SDL_MOUSEBUTTONDOWN: button.windowID
        default: 0
        }
    }
}
