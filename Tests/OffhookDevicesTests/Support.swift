import Glibc
import OffhookBasics
import OffhookMedia

/// A folder for one test, removed with it.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/offhook-devices-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template))
    }

    deinit {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

func readFile(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = fread(&block, 1, block.count, file)
        guard count > 0 else { return bytes }
        bytes += block[..<count]
    }
}

func writeFile(_ path: String, _ bytes: [UInt8]) {
    guard let file = fopen(path, "we") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
}

/// A plane without its padding.
func samples(_ frame: VideoFrame, _ plane: Int) -> [UInt8] {
    frame.withPlane(plane) { span in
        var bytes: [UInt8] = []
        for row in 0..<frame.rows(ofPlane: plane) {
            for column in 0..<frame.rowBytes(ofPlane: plane) {
                bytes.append(span[row * frame.stride(ofPlane: plane) + column])
            }
        }
        return bytes
    }
}

func samples(_ buffer: VideoFrameBuffer) -> [UInt8] {
    let frame = VideoFrame(buffer: buffer, captureTime: .zero)
    return (0..<frame.planeCount).flatMap { samples(frame, $0) }
}

/// Waits for frames of a source on other threads.
final class Collector<Frame: Sendable>: Sendable {
    private let state = Lock<(frames: [Frame], wanted: Int, waiter: CheckedContinuation<[Frame], Never>?)>(
        ([], .max, nil))

    func add(_ frame: Frame) {
        let (waiter, frames) = state.withLock { state in
            state.frames.append(frame)
            guard state.frames.count >= state.wanted else {
                return (CheckedContinuation<[Frame], Never>?.none, state.frames)
            }
            defer { state.waiter = nil }
            return (state.waiter, state.frames)
        }
        waiter?.resume(returning: frames)
    }

    func first(_ count: Int) async -> [Frame] {
        await withCheckedContinuation { continuation in
            let frames = state.withLock { state -> [Frame]? in
                if state.frames.count >= count { return state.frames }
                state.wanted = count
                state.waiter = continuation
                return nil
            }
            if let frames { continuation.resume(returning: frames) }
        }
    }

    var count: Int { state.withLock { $0.frames.count } }
}

final class PictureCollector: VideoSink {
    let frames = Collector<VideoFrame>()
    func handleVideoFrame(_ frame: VideoFrame) { frames.add(frame) }
}

final class SoundCollector: AudioSink {
    let frames = Collector<AudioFrame>()
    func handleAudioFrame(_ frame: AudioFrame) { frames.add(frame) }
}
