import Offhook

/// `offhook devices`
enum DevicesCommand {
    static func run(asJSON: Bool) -> ExitStatus {
        let cameras = V4L2Capturer.availableCameras()
        if asJSON {
            print(json(cameras).line)
            return .success
        }
        print(cameras.isEmpty ? "Cameras: none. The moving test picture is always there: --camera pattern" : "Cameras:")
        for camera in cameras {
            let position = camera.position.map { ", \($0)" } ?? ""
            print("  \(camera.path)  \(camera.name)\(position)")
            for format in camera.formats {
                let rates = format.frameRates.map { $0.formattedRate }.joined(separator: ", ")
                print("      \(format.pixelFormat) \(format.size)\(rates.isEmpty ? "" : " at \(rates)")")
            }
        }
        print("Microphones: tone, silence, FILE.wav")
        print("Speakers: none, FILE.wav")
        return .success
    }

    static func json(_ cameras: [CameraDevice]) -> JSONValue {
        .object([
            "cameras": .list(
                cameras.map { camera in
                    .object([
                        "id": .text(camera.id), "name": .text(camera.name), "path": .text(camera.path),
                        "bus": .text(camera.bus), "position": JSONValue(camera.position?.rawValue),
                        "formats": .list(
                            camera.formats.map { format in
                                .object([
                                    "pixelFormat": .text(format.pixelFormat.description),
                                    "width": JSONValue(format.size.width), "height": JSONValue(format.size.height),
                                    "frameRates": .list(format.frameRates.map { .number($0) }),
                                ])
                            }),
                    ])
                }),
            "microphones": .list(["tone", "silence"]),
            "speakers": .list([]),
        ])
    }
}

extension Double {
    /// As in `30` or `29.97`.
    fileprivate var formattedRate: String {
        self == rounded() ? String(Int(self)) : String((self * 100).rounded() / 100)
    }
}
