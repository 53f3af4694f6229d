internal import Glibc
internal import OffhookMedia

/// Finds the cameras among the machine's video nodes.
struct CameraScanner {
    let configuration: CameraConfiguration

    /// What is there now.
    struct Findings {
        var cameras: [CameraDevice] = []
        /// Nodes that could not be looked at.
        var refusals: [(path: String, error: SystemError)] = []
    }

    func scan() -> Findings {
        var findings = Findings()
        var found: [Found] = []
        for path in Self.nodes() {
            let device: V4L2Device
            do {
                device = try V4L2Device(path: path)
            } catch {
                findings.refusals.append((path, error))
                continue
            }
            guard device.isCamera else { continue }
            let formats = device.formats()
            guard !formats.isEmpty else { continue }
            let orientation = device.orientation
            found.append(
                Found(
                    device: CameraDevice(
                        id: Self.identifier(of: device), name: device.name, path: path, bus: device.bus,
                        position: orientation.position, formats: formats),
                    isExternal: orientation.isExternal))
        }
        findings.cameras = Self.placed(found, positions: configuration.positions)
        return findings
    }

    /// A camera, and whether its driver says that it belongs to no side of the machine.
    struct Found {
        var device: CameraDevice
        var isExternal = false
    }

    /// Gives each camera its position: the driver's word, then the configuration's, then the order. Front ones first,
    /// back ones next, in the order of their nodes otherwise.
    static func placed(_ found: [Found], positions: [String: CameraPosition]) -> [CameraDevice] {
        var found = found
        for index in found.indices where found[index].device.position == nil {
            let device = found[index].device
            found[index].device.position = positions[device.id] ?? positions[device.name]
        }
        for position in CameraPosition.allCases where !found.contains(where: { $0.device.position == position }) {
            let index =
                found.firstIndex { $0.device.position == nil && !$0.isExternal }
                ?? found.firstIndex { $0.device.position == nil }
            if let index { found[index].device.position = position }
        }
        let devices = found.map(\.device)
        return devices.filter { $0.position == .front } + devices.filter { $0.position == .back }
            + devices.filter { $0.position == nil }
    }

    /// The camera that was there before, under whatever node it is now: the same bus, card and serial number, or, for a
    /// camera with a serial number, the same one elsewhere.
    static func find(_ wanted: CameraDevice, among cameras: [CameraDevice]) -> CameraDevice? {
        if let same = cameras.first(where: { $0.id == wanted.id }) { return same }
        guard let serial = serial(in: wanted.id) else { return nil }
        return cameras.first { $0.name == wanted.name && self.serial(in: $0.id) == serial }
    }

    private static func serial(in identifier: String) -> String? {
        guard let start = identifier.range(of: "serial=") else { return nil }
        let serial = identifier[start.upperBound...].prefix { $0 != "/" }
        return serial.isEmpty ? nil : String(serial)
    }

    private static func identifier(of device: V4L2Device) -> String {
        let node = device.path.split(separator: "/").last.map(String.init) ?? device.path
        var identifier = "\(device.bus)/\(device.name)"
        // Two pictures of one camera, as colour and infrared, differ by the index of their nodes alone.
        if let index = attribute("index", of: node), index != "0" { identifier += "/index=\(index)" }
        if let serial = attribute("device/../serial", of: node) { identifier += "/serial=\(serial)" }
        return identifier
    }

    private static func attribute(_ name: String, of node: String) -> String? {
        guard let file = fopen("/sys/class/video4linux/\(node)/\(name)", "re") else { return nil }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 256)
        let count = fread(&line, 1, line.count, file)
        let text = String(decoding: line[..<count].prefix { $0 != 10 && $0 != 0 }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }

    /// `/dev/video0` and so on, by their numbers.
    private static func nodes() -> [String] {
        guard let folder = opendir("/dev") else { return [] }
        defer { closedir(folder) }
        var numbers: [Int] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("video"), let number = Int(name.dropFirst(5)) { numbers.append(number) }
        }
        return numbers.sorted().map { "/dev/video\($0)" }
    }
}

extension String {
    fileprivate func range(of part: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
            start = index(after: start)
        }
        return nil
    }
}
