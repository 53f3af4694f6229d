import Foundation
import OffhookBasics
import Testing

/// The bytes of hexadecimal digits; spaces are skipped.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func packet(_ bytes: [UInt8]) -> PacketBuffer {
    let packet = PacketBuffer()
    packet.assign(bytes)
    return packet
}

extension PacketBuffer {
    var content: [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}

/// The files of a folder of fixtures, by name.
func fixtures(in folder: String) throws -> [(name: String, bytes: [UInt8])] {
    let url = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(folder)")
    return try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        .sorted { $0.path < $1.path }
        .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
}
