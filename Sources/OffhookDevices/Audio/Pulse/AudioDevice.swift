/// A microphone or speaker that the sound server offers.
public struct AudioDevice: Hashable, Sendable, Identifiable {
    /// What it is for.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case microphone
        case speaker
    }

    /// The sound server's name of it, which it has again when it was unplugged and comes back.
    public let id: String
    /// Its name for people.
    public let name: String
    /// What it is for.
    public let kind: Kind
    /// Whether it is what the system uses where nothing else is chosen.
    public let isDefault: Bool
    /// Whether it is no microphone, but hears what is played on a speaker.
    public let isMonitor: Bool
    /// Whether it is muted for all programs, apart from any call.
    public let isMuted: Bool
    /// Its volume for all programs: 1 is full.
    public let volume: Double
    /// How it is connected, as in `usb`, `pci` or `bluetooth`, where the server knows.
    public let bus: String?
    /// Its shape, as in `headset` or `webcam`, where the server knows.
    public let formFactor: String?

    package init(
        id: String, name: String, kind: Kind, isDefault: Bool = false, isMonitor: Bool = false, isMuted: Bool = false,
        volume: Double = 1, bus: String? = nil, formFactor: String? = nil
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.isDefault = isDefault
        self.isMonitor = isMonitor
        self.isMuted = isMuted
        self.volume = volume
        self.bus = bus
        self.formFactor = formFactor
    }

    /// The device that a word means: by ``id``, else by a part of its name, in capitals or not.
    public static func named(_ word: String, in devices: [AudioDevice]) -> AudioDevice? {
        devices.first { $0.id == word } ?? devices.first { $0.name.lowercased().contains(word.lowercased()) }
    }
}

/// The devices of one moment.
public struct AudioDevices: Hashable, Sendable {
    /// Microphones, the default one first, those that only hear a speaker last.
    public var microphones: [AudioDevice] = []
    /// Speakers, the default one first.
    public var speakers: [AudioDevice] = []

    /// Makes a list; of no devices unless told otherwise.
    public init(microphones: [AudioDevice] = [], speakers: [AudioDevice] = []) {
        self.microphones = microphones.sorted { Self.rank($0) < Self.rank($1) }
        self.speakers = speakers.sorted { Self.rank($0) < Self.rank($1) }
    }

    private static func rank(_ device: AudioDevice) -> (Int, String) {
        (device.isDefault ? 0 : device.isMonitor ? 2 : 1, device.name)
    }

    /// The devices of one kind.
    public subscript(kind: AudioDevice.Kind) -> [AudioDevice] {
        kind == .microphone ? microphones : speakers
    }
}
