import Foundation

/// Reads classic pcap files of Ethernet frames, as far as tests need them.
enum Capture {
    static func udpPayloads(_ file: [UInt8]) throws -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        var offset = 24
        while offset + 16 <= file.count {
            let length =
                Int(file[offset + 8]) | Int(file[offset + 9]) << 8 | Int(file[offset + 10]) << 16
                | Int(file[offset + 11]) << 24
            let frame = Array(file[offset + 16..<offset + 16 + length])
            offset += 16 + length
            let linkType = file[20]
            let network = linkType == 1 ? 14 : linkType == 0 ? 4 : 16
            guard frame.count > network, frame[network] >> 4 == 4 else { continue }
            let transport = network + Int(frame[network] & 0x0F) * 4
            guard frame[network + 9] == 17, frame.count > transport + 8 else { continue }
            let size = Int(frame[transport + 4]) << 8 | Int(frame[transport + 5])
            payloads.append(Array(frame[transport + 8..<min(frame.count, transport + size)]))
        }
        return payloads
    }
}

extension [UInt8] {
    init?(base64 text: String) {
        guard let data = Data(base64Encoded: text) else { return nil }
        self.init(data)
    }
}
