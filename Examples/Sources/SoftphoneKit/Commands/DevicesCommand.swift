import Offhook

/// `offhook devices`
enum DevicesCommand {
    static func run(asJSON: Bool) async -> ExitStatus {
        let cameras = V4L2Capturer.availableCameras()
        var devices = AudioDevices()
        var trouble: SoundError?
        do { devices = try await SoundServer.standard.devices() } catch { trouble = error }
        if asJSON {
            print(json(cameras, devices, trouble).line)
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
            do {
                for control in try V4L2Capturer.controls(of: camera) where control.isSettable {
                    print(
                        "      \(control.name): \(control.value), of \(control.range.lowerBound) to \(control.range.upperBound)"
                    )
                }
            } catch {
                print("      \(error)")
            }
        }
        if let trouble { print(trouble) }
        show("Microphones", devices.microphones, others: "tone, silence, FILE.wav")
        show("Speakers", devices.speakers, others: "none, FILE.wav")
        return .success
    }

    private static func show(_ title: String, _ devices: [AudioDevice], others: String) {
        print("\(title):\(devices.isEmpty ? " none of the sound server." : "") There are always \(others).")
        for device in devices {
            let marks = [device.isDefault ? ", the default" : "", device.isMuted ? ", muted" : ""].joined()
            print("  pulse:\(device.id)  \(device.name)\(marks)")
        }
    }

    static func json(
        _ cameras: [CameraDevice], _ devices: AudioDevices = AudioDevices(), _ trouble: SoundError? = nil
    ) -> JSONValue {
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
            "microphones": .list(devices.microphones.map(json)),
            "speakers": .list(devices.speakers.map(json)),
            "soundTrouble": JSONValue(trouble?.reason),
        ])
    }

    private static func json(_ device: AudioDevice) -> JSONValue {
        .object([
            "id": .text(device.id), "name": .text(device.name), "default": .boolean(device.isDefault),
            "monitor": .boolean(device.isMonitor), "muted": .boolean(device.isMuted), "volume": .number(device.volume),
            "bus": JSONValue(device.bus), "formFactor": JSONValue(device.formFactor),
        ])
    }
}

extension Double {
    /// As in `30` or `29.97`.
    fileprivate var formattedRate: String {
        self == rounded() ? String(Int(self)) : String((self * 100).rounded() / 100)
    }
}
