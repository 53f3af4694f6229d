import Foundation
import Offhook

/// Where the pictures and sound of one call go.
@MainActor final class CallOutputs {
    /// Takes decoded pictures; nil where nobody wants them.
    let pictures: (any VideoSink)?
    /// Takes coded pictures; nil where nobody wants them.
    let codedPictures: (any EncodedVideoSink)?
    /// Takes sound; nil where nobody wants it.
    let sound: (any AudioSink)?
    /// Keeps the whole call; nil where nobody wants it.
    let recorder: CallRecorder?

    /// Creates the files, and takes a place on the screen where there is one.
    ///
    /// - Parameter number: which call it is, counted from 1. The second writes to `FILE-2.png` where the first wrote to
    ///   `FILE.png`, so that no call overwrites another's.
    init(
        display: DisplayChoice, speaker: SpeakerChoice, screen: PictureScreen?, record: String?, number: Int
    ) throws(FileFailure) {
        do {
            switch display {
            case .none: (pictures, codedPictures) = (nil, nil)
            case .window, .terminal: (pictures, codedPictures) = (screen?.makeSink(), nil)
            case .file(let path):
                (pictures, codedPictures) = (try FileRenderer(path: Self.path(path, number)), nil)
            case .codedFile(let path):
                (pictures, codedPictures) = (nil, IVFSink(try IVFWriter(path: Self.path(path, number))))
            }
            switch speaker {
            // All calls share the speaker of the sound server.
            case .none, .pulse: sound = nil
            case .file(let path): sound = try WAVRecorder(path: Self.path(path, number))
            }
            if let record { recorder = try CallRecorder(path: Self.path(record, number)) } else { recorder = nil }
        } catch {
            throw FileFailure(error.reason)
        }
    }

    /// Completes the files; returns the first trouble there was.
    func close() -> String? {
        let renderer = pictures as? FileRenderer
        let writer = (codedPictures as? IVFSink)?.writer
        let soundFile = sound as? WAVRecorder
        renderer?.close()
        writer?.close()
        soundFile?.close()
        recorder?.close()
        return (renderer?.error ?? writer?.error ?? soundFile?.error ?? recorder?.error)?.reason
    }

    private static func path(_ path: String, _ number: Int) -> String {
        guard number > 1, let dot = path.lastIndex(of: ".") else { return path }
        return path[..<dot] + "-\(number)" + path[dot...]
    }
}

/// Keeps coded pictures in an IVF file, from the first one that can be shown.
final class IVFSink: EncodedVideoSink {
    let writer: IVFWriter
    private let firstTimestamp = Lock<Int64?>(nil)

    init(_ writer: IVFWriter) {
        self.writer = writer
    }

    func handleEncodedVideoFrame(_ bytes: RawSpan, info: EncodedVideoFrameInfo) {
        let first = firstTimestamp.withLock { first in
            if first == nil, info.isKeyFrame { first = info.timestamp }
            return first
        }
        guard let first else { return }
        writer.write(bytes.withUnsafeBytes { Array($0) }, timestamp: UInt64(max(info.timestamp - first, 0)))
    }
}
