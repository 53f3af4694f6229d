internal import CSDL
internal import OffhookBasics
internal import OffhookMedia

/// One window with the far end's picture and one's own. It belongs to the window thread.
final class SDLWindow {
    /// By which events name the window.
    let number: UInt32
    private(set) var isClosed = false

    private let sdl: csdl_functions
    private let configuration: WindowConfiguration
    private let mailbox: WindowMailbox
    private let window: OpaquePointer
    private let renderer: OpaquePointer
    private let remote: WindowTexture
    private let selfView: WindowTexture
    private var isStale = true
    /// The size of the drawing area when it was last drawn.
    private var drawnSize: VideoSize?

    init(
        sdl: csdl_functions, configuration: WindowConfiguration, mailbox: WindowMailbox
    ) throws(DeviceError) {
        var flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
        if configuration.isFullScreen { flags |= SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue }
        let window = sdl.SDL_CreateWindow(
            configuration.title, csdl_window_position_any, csdl_window_position_any,
            Int32(min(max(configuration.size.width, 64), 16384)), Int32(min(max(configuration.size.height, 64), 16384)),
            flags)
        guard let window else {
            throw DeviceError(.noDisplay, "The display opens no window: \(sdl.lastError).")
        }
        // Pictures are shown as they come and at once; waiting for the screen's rhythm would let windows wait for each
        // other, and for ones that are hidden for ever.
        guard let renderer = sdl.SDL_CreateRenderer(window, -1, 0) else {
            let reason = sdl.lastError
            sdl.SDL_DestroyWindow(window)
            throw DeviceError(.noDisplay, "The display draws no picture: \(reason).")
        }
        sdl.SDL_SetWindowMinimumSize(window, 64, 64)
        sdl.SDL_StartTextInput()
        self.sdl = sdl
        self.configuration = configuration
        self.mailbox = mailbox
        self.window = window
        self.renderer = renderer
        number = sdl.SDL_GetWindowID(window)
        remote = WindowTexture(sdl: sdl)
        selfView = WindowTexture(sdl: sdl)
    }

    deinit {
        close()
    }

    /// Takes the window from the screen.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        _ = mailbox.close()
        remote.remove()
        selfView.remove()
        sdl.SDL_DestroyRenderer(renderer)
        sdl.SDL_DestroyWindow(window)
    }

    /// Goes by no wish of the app's.
    func closeAndTell() {
        guard !isClosed else { return }
        close()
        mailbox.report(.closed)
    }

    // MARK: Drawing

    /// Draws what is new, if anything is.
    func draw() {
        clearLastPictureWhenDue()
        let pictures = mailbox.pictures
        let size = drawingSize
        let isResized = size != drawnSize
        guard
            isStale || isResized || pictures.remote.serial != remote.serial
                || pictures.selfView.serial != selfView.serial
        else { return }
        let layout = WindowLayout(window: size, selfViewShare: configuration.selfViewShare)
        let remotePlace = take(pictures.remote, into: remote, isAnew: isStale || isResized, isMirrored: false) {
            layout.place($0)
        }
        let selfPlace = take(
            pictures.selfView, into: selfView, isAnew: isStale || isResized, isMirrored: configuration.mirrorsSelfView
        ) { layout.placeSelfView($0) }
        paint(remotePlace, selfPlace)
        (isStale, drawnSize) = (false, size)
        if isResized { mailbox.report(.size(size)) }
        mailbox.noteShown(pictures.remote.serial)
    }

    private func clearLastPictureWhenDue() {
        guard case .cleared(let limit) = configuration.lastPicture else { return }
        let (picture, now) = (mailbox.pictures.remote, MonotonicClock.now)
        // One that has not been drawn is shown first.
        if picture.frame != nil, picture.serial == remote.serial, now - picture.arrival >= limit {
            _ = mailbox.put(nil, as: .remote, at: now)
        }
    }

    private var drawingSize: VideoSize {
        var (width, height): (Int32, Int32) = (0, 0)
        guard sdl.SDL_GetRendererOutputSize(renderer, &width, &height) == 0 else { return configuration.size }
        return VideoSize(width: Int(width), height: Int(height))
    }

    /// Brings a part up to date and returns where it goes.
    private func take(
        _ picture: WindowMailbox.Picture, into texture: WindowTexture, isAnew: Bool, isMirrored: Bool,
        _ place: (VideoSize) -> PixelRectangle?
    ) -> PixelRectangle? {
        guard let frame = picture.frame else {
            texture.remove()
            texture.serial = picture.serial
            return nil
        }
        guard let rectangle = place(frame.uprightSize) else { return nil }
        if isAnew || picture.serial != texture.serial {
            texture.show(frame, at: rectangle.size, isMirrored: isMirrored, renderer: renderer)
            texture.serial = picture.serial
        }
        return rectangle
    }

    private func paint(_ remotePlace: PixelRectangle?, _ selfPlace: PixelRectangle?) {
        fill(nil, 16, 17, 20, 255)
        if let remotePlace { copy(remote, to: remotePlace) }
        if let selfPlace {
            // A frame keeps the small picture apart from a large one of the same colour.
            fill(selfPlace.outset(by: 4), 0, 0, 0, 90)
            fill(selfPlace.outset(by: 2), 240, 240, 240, 255)
            copy(selfView, to: selfPlace)
        }
        sdl.SDL_RenderPresent(renderer)
    }

    private func fill(_ rectangle: PixelRectangle?, _ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) {
        _ = sdl.SDL_SetRenderDrawColor(renderer, red, green, blue, alpha)
        guard let rectangle else {
            _ = sdl.SDL_RenderClear(renderer)
            return
        }
        var area = SDL_Rect(rectangle)
        _ = sdl.SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND)
        _ = sdl.SDL_RenderFillRect(renderer, &area)
    }

    private func copy(_ part: WindowTexture, to rectangle: PixelRectangle) {
        guard let texture = part.texture else { return }
        var area = SDL_Rect(rectangle)
        _ = sdl.SDL_RenderCopy(renderer, texture, nil, &area)
    }

    /// The renderer has lost its memory: everything is drawn anew.
    func renew() {
        remote.remove()
        selfView.remove()
        isStale = true
    }

    // MARK: Events and wishes

    func handle(_ event: SDL_Event) {
        switch SDL_EventType(event.type) {
        case SDL_WINDOWEVENT: handle(event.window)
        case SDL_KEYDOWN: handle(event.key.keysym)
        case SDL_MOUSEBUTTONDOWN:
            if event.button.button == SDL_BUTTON_LEFT, event.button.clicks == 2 { setFullScreen(!isFullScreen) }
        case SDL_TEXTINPUT:
            withUnsafePointer(to: event) { pointer in
                for character in String(cString: csdl_text(pointer)) { mailbox.report(.typed(character)) }
            }
        default: break
        }
    }

    private func handle(_ event: SDL_WindowEvent) {
        switch SDL_WindowEventID(UInt32(event.event)) {
        case SDL_WINDOWEVENT_CLOSE: closeAndTell()
        case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SIZE_CHANGED: isStale = true
        default: break
        }
    }

    private func handle(_ key: SDL_Keysym) {
        let isAlternate = UInt32(key.mod) & UInt32(KMOD_ALT.rawValue) != 0
        switch SDL_KeyCode(UInt32(bitPattern: key.sym)) {
        case SDLK_F11: setFullScreen(!isFullScreen)
        case SDLK_RETURN where isAlternate: setFullScreen(!isFullScreen)
        case SDLK_ESCAPE where isFullScreen: setFullScreen(false)
        // Keys that are no text and yet mean something where an address is typed.
        case SDLK_RETURN, SDLK_KP_ENTER: mailbox.report(.typed("\n"))
        case SDLK_BACKSPACE: mailbox.report(.typed("\u{8}"))
        case SDLK_ESCAPE: mailbox.report(.typed("\u{1B}"))
        default: break
        }
    }

    var isFullScreen: Bool {
        sdl.SDL_GetWindowFlags(window) & SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue
            == SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue
    }

    func setFullScreen(_ isWanted: Bool) {
        guard isWanted != isFullScreen else { return }
        _ = sdl.SDL_SetWindowFullscreen(window, isWanted ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0)
        isStale = true
        mailbox.report(.fullScreen(isFullScreen))
    }

    func setTitle(_ title: String) {
        sdl.SDL_SetWindowTitle(window, title)
    }

    func setSize(_ size: VideoSize) {
        sdl.SDL_SetWindowSize(window, Int32(min(max(size.width, 64), 16384)), Int32(min(max(size.height, 64), 16384)))
    }
}

extension SDL_Rect {
    fileprivate init(_ rectangle: PixelRectangle) {
        self.init(
            x: Int32(rectangle.x), y: Int32(rectangle.y), w: Int32(rectangle.width), h: Int32(rectangle.height))
    }
}
