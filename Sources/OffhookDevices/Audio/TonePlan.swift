/// How telephones of a country sound.
public struct TonePlan: Hashable, Sendable {
    /// A stretch of one sound.
    public struct Segment: Hashable, Sendable {
        /// Sines in hertz that sound together; none for silence.
        public var frequencies: [Double]
        /// How long it lasts.
        public var duration: Duration

        /// Makes a stretch.
        public init(_ frequencies: [Double], _ duration: Duration) {
            self.frequencies = frequencies
            self.duration = duration
        }
    }

    /// What is heard while a call comes in.
    public var ringing: [Segment]
    /// What a caller hears while it rings at the far end.
    public var ringback: [Segment]
    /// What a caller hears who finds the far end busy.
    public var busy: [Segment]
    /// What a caller hears who could not be put through.
    public var congestion: [Segment]

    /// Makes a plan; each list is played over and over.
    public init(ringing: [Segment] = Self.warble, ringback: [Segment], busy: [Segment], congestion: [Segment]) {
        self.ringing = ringing
        self.ringback = ringback
        self.busy = busy
        self.congestion = congestion
    }

    /// A second of two tones in turns, and three of silence.
    public static let warble: [Segment] =
        (0..<10).flatMap { _ in
            [Segment([660], .milliseconds(50)), Segment([880], .milliseconds(50))]
        } + [Segment([], .seconds(3))]

    /// 425 Hz, as on most of the European continent (ITU-T E.180, ETSI TR 101 041).
    public static let europe = TonePlan(
        ringback: [Segment([425], .seconds(1)), Segment([], .seconds(4))],
        busy: [Segment([425], .milliseconds(500)), Segment([], .milliseconds(500))],
        congestion: [Segment([425], .milliseconds(250)), Segment([], .milliseconds(250))])

    /// The precise tones of North America.
    public static let northAmerica = TonePlan(
        ringback: [Segment([440, 480], .seconds(2)), Segment([], .seconds(4))],
        busy: [Segment([480, 620], .milliseconds(500)), Segment([], .milliseconds(500))],
        congestion: [Segment([480, 620], .milliseconds(250)), Segment([], .milliseconds(250))])

    /// The double ring of the United Kingdom.
    public static let unitedKingdom = TonePlan(
        ringback: [
            Segment([400, 450], .milliseconds(400)), Segment([], .milliseconds(200)),
            Segment([400, 450], .milliseconds(400)), Segment([], .seconds(2)),
        ],
        busy: [Segment([400], .milliseconds(375)), Segment([], .milliseconds(375))],
        congestion: [
            Segment([400], .milliseconds(400)), Segment([], .milliseconds(350)), Segment([400], .milliseconds(225)),
            Segment([], .milliseconds(525)),
        ])
}
