import Offhook

/// What the options say.
struct Options: Sendable {
    var account: String?
    var displayName: String?
    var authenticationName: String?
    var passwordFile: String?
    var passwordVariable: String?
    var server: String?
    var transport: SignalingTransport?
    var outboundProxy: String?
    var registers = false
    var expires: Duration?
    var bindAddress: IPAddress?
    var port: UInt16?
    var mediaPorts: ClosedRange<UInt16>?
    var trustRootsFile: String?
    var certificateFile: String?
    var privateKeyFile: String?
    var acceptsAnyCertificate = false
    var allowedPeers = AllowedPeers.anyone

    var video = VideoChoice.off
    var audioCodecs: [AudioCodec]?
    var videoCodecs: [VideoCodec]?
    var camera = CameraChoice.pattern(nil)
    var microphone = MicrophoneChoice.tone(440)
    var display = DisplayChoice.none
    var speaker = SpeakerChoice.none
    var echoCancellation = AudioProcessing.automatic
    var noiseSuppression = AudioProcessing.automatic
    var gainControl = AudioProcessing.off
    var record: String?
    var security: SRTPPolicy?
    var ice: ConnectivityConfiguration.ICEPolicy?
    var stunServers: [String] = []
    var relayServers: [String] = []
    var bitrate: Int?
    var maximumBitrate: Int?

    var delaysOffer = false
    var duration: Duration?
    var calls: Int?
    var script = Script()
    var addVideo = AddVideoChoice.ask
    var transferPolicy = TransferPolicy.follow
    var writesEvents = false
    var statisticsFile: String?
    var traceFile: String?
}
