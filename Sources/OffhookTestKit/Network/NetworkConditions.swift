/// How well a ``SimulatedNetwork`` carries datagrams.
public struct NetworkConditions: Hashable, Sendable {
    /// How long every datagram is on its way at least.
    public var latency: Duration = .milliseconds(20)
    /// How much longer it may be on its way, evenly spread. Jitter alone does not change the order.
    public var jitter: Duration = .zero
    /// How many of all datagrams are lost: 0 none, 1 all.
    public var loss: Double = 0
    /// How many of all datagrams come twice.
    public var duplication: Double = 0
    /// How many of all datagrams are overtaken by later ones.
    public var reordering: Double = 0
    /// How many bits a second each client's line carries out; nil for no limit. What waits longer than ``queueLimit`` is
    /// lost.
    public var bandwidth: Int?
    /// How long a datagram may wait for a line that is full.
    public var queueLimit: Duration = .milliseconds(300)

    /// A good line: 20 ms one way, nothing lost.
    public init() {}
}

/// A datagram on its way through a ``SimulatedNetwork``.
public struct SimulatedDatagram: Sendable {
    /// How many datagrams of its kind, signaling or media, were sent before it.
    public let index: Int
    /// The name of the client that sends it.
    public let sender: String
    /// The name of the client it goes to; nil where there is none at that address.
    public let receiver: String?
    /// Its content.
    public let bytes: [UInt8]
    /// Whether it is a SIP message; else it is sound, a picture's part, or a report.
    public let isSignaling: Bool
    /// When it is sent, since the network was made.
    public let time: Duration

    /// The first line of a SIP message; nil for media.
    public var startLine: String? {
        guard isSignaling else { return nil }
        return String(decoding: bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
    }
}
