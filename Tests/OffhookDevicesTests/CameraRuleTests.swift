import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Camera format choice` {
    private func format(_ code: CameraPixelFormat, _ width: Int, _ height: Int, _ rates: Double...) -> CameraFormat {
        CameraFormat(pixelFormat: code, size: VideoSize(width: width, height: height), frameRates: rates)
    }

    private var webcam: [CameraFormat] {
        [
            format(.mjpeg, 1920, 1080, 30, 15), format(.mjpeg, 1280, 720, 30, 15), format(.mjpeg, 640, 480, 30),
            format(.yuyv, 640, 480, 30, 15), format(.yuyv, 1280, 720, 10), format(.yuyv, 320, 240, 30),
        ]
    }

    @Test func `motion JPEG wins where only it is fast enough`() throws {
        let choice = try #require(
            CameraFormatChoice(from: webcam, size: VideoSize(width: 1280, height: 720), frameRate: 30))

        #expect(choice.format == webcam[1])
        #expect(choice.frameRate == 30)
    }

    @Test func `among equals the cheapest conversion wins`() throws {
        let choice = try #require(
            CameraFormatChoice(from: webcam, size: VideoSize(width: 640, height: 480), frameRate: 30))

        #expect(choice.format == webcam[3])
    }

    @Test func `rate is worth more than size`() throws {
        let formats = webcam.filter { $0.pixelFormat == .yuyv }
        let choice = try #require(
            CameraFormatChoice(from: formats, size: VideoSize(width: 1280, height: 720), frameRate: 30))

        #expect(choice.format == webcam[3])
    }

    @Test func `the lowest rate that is enough is set`() throws {
        let choice = try #require(
            CameraFormatChoice(from: webcam, size: VideoSize(width: 1280, height: 720), frameRate: 15))

        #expect(choice.format == webcam[1])
        #expect(choice.frameRate == 15)
    }

    @Test func `a camera that tells no rate is believed`() throws {
        let formats = [format(.nv12, 1280, 720), format(.nv12, 640, 480, 30)]
        let choice = try #require(
            CameraFormatChoice(from: formats, size: VideoSize(width: 1280, height: 720), frameRate: 30))

        #expect(choice.format == formats[0])
        #expect(choice.frameRate == nil)
    }

    @Test func `formats nobody can convert are none`() {
        let formats = [format(CameraPixelFormat("H264"), 1280, 720, 30)]

        #expect(CameraFormatChoice(from: formats, size: VideoSize(width: 1280, height: 720), frameRate: 30) == nil)
    }
}

@Suite struct `Camera positions` {
    private func camera(_ name: String, _ position: CameraPosition? = nil) -> CameraScanner.Found {
        .init(device: CameraDevice(id: name, name: name, path: "/dev/\(name)", bus: "bus", position: position))
    }

    @Test func `the first is front and the second back, the third neither`() {
        let placed = CameraScanner.placed([camera("a"), camera("b"), camera("c")], positions: [:])

        #expect(placed.map(\.position) == [.front, .back, nil])
    }

    @Test func `the driver's word goes before the configuration's, and that before the order`() {
        let placed = CameraScanner.placed(
            [camera("a"), camera("b", .front), camera("c")], positions: ["c": .front, "b": .back])

        #expect(placed.map(\.name) == ["b", "c", "a"])
        #expect(placed.map(\.position) == [.front, .front, .back])
    }

    @Test func `a camera that the driver calls external comes after built-in ones`() {
        var external = camera("a")
        external.isExternal = true
        let placed = CameraScanner.placed([external, camera("b")], positions: [:])

        #expect(placed.map(\.name) == ["b", "a"])
    }

    @Test func `a camera is found again under another node, or at another port by its serial number`() {
        let old = CameraDevice(id: "usb-1/Cam/serial=77", name: "Cam", path: "/dev/video0", bus: "usb-1")
        let twin = CameraDevice(id: "usb-2/Cam/serial=78", name: "Cam", path: "/dev/video0", bus: "usb-2")
        var renamed = old
        renamed.path = "/dev/video4"
        var moved = old
        moved.id = "usb-3/Cam/serial=77"

        #expect(CameraScanner.find(old, among: [twin, renamed])?.path == "/dev/video4")
        #expect(CameraScanner.find(old, among: [twin, moved]) == moved)
        #expect(CameraScanner.find(old, among: [twin]) == nil)
    }
}

@Suite struct `Camera timing` {
    @Test(
        arguments: [
            ([10, 11, 12], 0), ([10, 13], 2), ([4_294_967_295, 0, 1], 0), ([4_294_967_294, 1], 2), ([500, 0], 0),
            ([5, 5], 0),
        ] as [([UInt32], Int)])
    func `gaps in the driver's numbers are counted, across the wrap too`(_ numbers: [UInt32], _ lost: Int) {
        var counter = SequenceCounter()

        #expect(numbers.reduce(0) { $0 + counter.lost(before: $1) } == lost)
    }

    @Test func `the driver's time is taken, and now where there is none or it jumps`() {
        var clock = CaptureClock()
        let now = Instant(nanoseconds: 50_000_000_000)
        let stamp = now - .milliseconds(20)

        #expect(clock.captureTime(stamp: stamp, now: now) == stamp)
        #expect(clock.captureTime(stamp: nil, now: now) == now)
        let later = now + .milliseconds(33)
        #expect(clock.captureTime(stamp: later + .seconds(5), now: later) == later)
        let third = later + .milliseconds(33)
        #expect(clock.captureTime(stamp: .zero, now: third) == third)
        let fourth = third + .milliseconds(33)
        #expect(clock.captureTime(stamp: third - .milliseconds(5), now: fourth) == fourth)
    }

    @Test func `time never goes back`() {
        var clock = CaptureClock()
        let now = Instant(nanoseconds: 50_000_000_000)

        let times = [now, now, now - .milliseconds(3)].map { clock.captureTime(stamp: $0, now: now) }

        #expect(times[0] < times[1])
        #expect(times[1] < times[2])
    }

    @Test func `a camera that slows down in the dark is measured`() {
        var meter = FrameRateMeter()
        var time = Instant.zero
        func run(_ count: Int, every interval: Duration) -> Double {
            for _ in 0..<count {
                time = time + interval
                meter.record(time)
            }
            return meter.rate
        }

        #expect(abs(run(90, every: .microseconds(33_333)) - 30) < 0.5)
        #expect(abs(run(45, every: .microseconds(66_667)) - 15) < 0.5)
        #expect(abs(run(23, every: .microseconds(133_333)) - 7.5) < 0.5)
        #expect(abs(run(90, every: .microseconds(33_333)) - 30) < 0.5)
    }
}

@Suite struct `Camera controls` {
    private func control(_ kind: CameraControl.Kind, _ range: ClosedRange<Int>, step: Int = 1) -> CameraControl {
        CameraControl(
            id: .brightness, name: "Brightness", kind: kind, range: range, step: step, defaultValue: range.lowerBound,
            value: range.lowerBound, isSettable: true)
    }

    @Test func `take the values that they list, and say what these are`() {
        let number = control(.number, -10...10, step: 5)
        let menu = control(.menu([0: "Disabled", 2: "60 Hz"]), 0...2)
        let toggle = control(.toggle, 0...1)

        #expect((-12...12).filter(number.takes) == [-10, -5, 0, 5, 10])
        #expect((-1...3).filter(menu.takes) == [0, 2])
        #expect((-1...3).filter(toggle.takes) == [0, 1])
        #expect(number.wordsForValues == "-10 to 10 in steps of 5")
        #expect(menu.wordsForValues == "0 (Disabled), 2 (60 Hz)")
        #expect(toggle.wordsForValues == "0 or 1")
    }
}
