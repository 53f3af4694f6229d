internal import OffhookCodecs

/// Reads 16-bit samples of a WAV file as 48 kHz mono, from the start again at its end. It belongs to one thread at a time.
final class WAVReader {
    static let outputRate = 48000

    private let file: InputFile
    private let content: Range<Int>
    private let channels: Int
    private let inputRate: Int
    private let resampler: Resampler
    private var pending: [Int16] = []

    init(path: String) throws(DeviceError) {
        file = try InputFile(opening: path)
        guard let start = file.read(12), start[0..<4].elementsEqual("RIFF".utf8),
            start[8..<12].elementsEqual("WAVE".utf8)
        else { throw DeviceError(.notUnderstood, "\(path) is no WAV file.") }
        var format: (channels: Int, rate: Int)?
        var content: Range<Int>?
        while content == nil, let head = file.read(8) {
            let count = Int(head.littleEndian(at: 4, as: UInt32.self))
            let next = file.position + count + count % 2
            if head[0..<4].elementsEqual("fmt ".utf8) {
                format = try Self.format(file.readUpTo(min(count, 40)), path: path)
            } else if head[0..<4].elementsEqual("data".utf8) {
                // A recorder that was killed may have left the length at 0 or at its utmost.
                let length = file.length - file.position
                content = file.position..<file.position + (count == 0 ? length : min(count, length))
            }
            file.position = next
        }
        guard let format, let content, content.count >= format.channels * 2 else {
            throw DeviceError(.notUnderstood, "\(path) holds no sound.")
        }
        channels = format.channels
        inputRate = format.rate
        self.content = content
        do {
            resampler = try Resampler(from: inputRate, to: Self.outputRate)
        } catch {
            throw DeviceError(.notUnderstood, "\(path) has \(inputRate) samples a second: convert it to 8000 or more.")
        }
        file.position = content.lowerBound
    }

    private static func format(_ bytes: [UInt8], path: String) throws(DeviceError) -> (channels: Int, rate: Int) {
        var kind = bytes.littleEndian(at: 0, as: UInt16.self)
        // The extensible header has the kind further on.
        if kind == 0xFFFE { kind = bytes.littleEndian(at: 24, as: UInt16.self) }
        let channels = Int(bytes.littleEndian(at: 2, as: UInt16.self))
        let rate = Int(bytes.littleEndian(at: 4, as: UInt32.self))
        guard kind == 1, bytes.littleEndian(at: 14, as: UInt16.self) == 16, (1...8).contains(channels), rate > 0 else {
            throw DeviceError(
                .notUnderstood, "\(path) is not of 16-bit samples: convert it with `sox FILE -b 16 OUT.wav`.")
        }
        return (channels, rate)
    }

    /// The next samples.
    func next(_ count: Int) -> [Int16] {
        var idle = 0
        while pending.count < count, idle < 8 {
            let samples = resampler.resample(readInput())
            idle = samples.isEmpty ? idle + 1 : 0
            pending += samples
        }
        let ready = min(count, pending.count)
        defer { pending.removeFirst(ready) }
        return Array(pending[..<ready]) + [Int16](repeating: 0, count: count - ready)
    }

    /// The next 20 ms of the file, mixed to one channel.
    private func readInput() -> [Int16] {
        let block = channels * 2
        if content.upperBound - file.position < block { file.position = content.lowerBound }
        let wanted = min(max(inputRate / 50, 1), (content.upperBound - file.position) / block) * block
        let bytes = file.readUpTo(wanted)
        let samples = stride(from: 0, to: bytes.count - 1, by: 2).map { bytes.littleEndian(at: $0, as: Int16.self) }
        return mixed(samples, from: channels, to: 1)
    }
}
