internal import OffhookBasics
public import OffhookMedia

/// Where the received pictures of a video line come from, and where the sent ones go.
///
/// May be used on any thread.
public final class VideoInterface: Sendable {
    private let lines = Lock<[VideoChannel.ID: VideoLine]>([:])

    init() {}

    /// Where the pictures that the far end sends come from; nil where there is no such line any more.
    public func remoteVideoSource(for channel: VideoChannel.ID) -> (any VideoSource)? {
        lines.withLock { $0[channel] }?.source
    }

    /// Where to put the pictures that the far end should get; nil where there is no such line any more.
    ///
    /// It takes pictures whenever they come and drops those that there is no use for.
    public func localVideoSink(for channel: VideoChannel.ID) -> (any VideoSink)? {
        lines.withLock { $0[channel] }?.sink
    }

    /// Chooses who gets the received pictures as they came, still coded. With nil it detaches: nothing is delivered after
    /// this returns. Attaching asks the far end for a key frame.
    public func setEncodedVideoSink(_ sink: (any EncodedVideoSink)?, for channel: VideoChannel.ID) {
        lines.withLock { $0[channel] }?.encodedSource.setEncodedVideoSink(sink)
    }

    /// Makes a line's ends known, before the app is told of the line.
    package func add(_ line: VideoLine, for channel: VideoChannel.ID) {
        lines.withLock { $0[channel] = line }
    }

    /// Forgets a line, when its call is over.
    package func remove(_ channel: VideoChannel.ID) {
        _ = lines.withLock { $0.removeValue(forKey: channel) }
    }
}

/// The ends of one video line.
package struct VideoLine: Sendable {
    package let source: any VideoSource
    package let sink: any VideoSink
    package let encodedSource: any EncodedVideoSource

    package init(source: any VideoSource, sink: any VideoSink, encodedSource: any EncodedVideoSource) {
        self.source = source
        self.sink = sink
        self.encodedSource = encodedSource
    }
}

/// Where coded pictures of one stream come from.
package protocol EncodedVideoSource: AnyObject, Sendable {
    /// Chooses where coded pictures go. With nil it detaches: none is delivered after this returns.
    func setEncodedVideoSink(_ sink: (any EncodedVideoSink)?)
}

/// Takes pictures as they travel: coded, and not decoded.
///
/// Called on a media thread, one picture at a time; return within a frame time.
public protocol EncodedVideoSink: AnyObject, Sendable {
    /// Takes one whole coded picture. The bytes are lent for the length of the call.
    func handleEncodedVideoFrame(_ bytes: RawSpan, info: EncodedVideoFrameInfo)
}

/// What is known of a coded picture.
public struct EncodedVideoFrameInfo: Hashable, Sendable {
    /// The codec.
    public var codec: VideoCodec
    /// Whether it needs no other picture.
    public var isKeyFrame: Bool
    /// When it was taken, in units of 1/90000 s since an origin of the sender's (RTP timestamp, counted on past 32 bits).
    public var timestamp: Int64
    /// The size in pixels that the newest key frame told.
    public var size: VideoSize

    /// Makes a description.
    public init(codec: VideoCodec, isKeyFrame: Bool, timestamp: Int64, size: VideoSize) {
        self.codec = codec
        self.isKeyFrame = isKeyFrame
        self.timestamp = timestamp
        self.size = size
    }
}
