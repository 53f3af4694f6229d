internal import COpenSSL

/// What OpenSSL reads datagrams from and writes them to: memory that keeps them apart, which OpenSSL 3.0 has none of.
///
/// It also takes note of OpenSSL's retransmission timer. That timer reads the wall clock, while everything here lives
/// by the instants it is handed. So OpenSSL is made to set it for an hour; ``DTLSAssociation`` keeps the real deadline,
/// and when that has come ``expireTimer()`` sets OpenSSL's back. Until version 3.1 OpenSSL shows a BIO the timer itself,
/// which makes this possible. A later version shows a copy: there the timer runs by the wall clock with the
/// association's intervals, which is the same in a call, but not in virtual time.
final class DatagramBIO {
    /// Datagrams that OpenSSL wrote and nobody has taken.
    private var written: [[UInt8]] = []
    private var incoming: [UInt8]?
    private(set) var isTimerRunning = false
    /// How often the timer was started from rest, that is, how many flights wait or waited for an answer.
    private(set) var timedFlights = 0
    /// What OpenSSL's own timer is set to where its clock counts, in microseconds.
    fileprivate var interval: UInt32 = 1_000_000
    private var timer: UnsafeMutablePointer<timeval>?

    private static let showsTimerItself = OpenSSL_version_num() < 0x3020_0000

    /// Gives `connection` this object to read and write; it must live as long as the connection.
    func attach(to connection: OpaquePointer) -> Bool {
        guard let method = Self.method, let bio = BIO_new(method) else { return false }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        SSL_set_bio(connection, bio, bio)
        DTLS_set_timer_cb(connection, Self.timerInterval)
        return true
    }

    /// Lets OpenSSL find one datagram, for as long as `body` runs.
    func feed(_ datagram: [UInt8], _ body: () -> Void) {
        incoming = datagram
        body()
        incoming = nil
    }

    func takeWritten() -> [[UInt8]] {
        defer { written = [] }
        return written
    }

    /// Makes OpenSSL's timer one that has run out.
    func expireTimer() {
        // One second after the epoch; zero would be a timer at rest.
        timer?.pointee = timeval(tv_sec: 1, tv_usec: 0)
    }

    func setInterval(microseconds: Int64) {
        interval = UInt32(clamping: microseconds)
    }

    // MARK: What OpenSSL calls

    // Filled once, before it is first used, and only read by OpenSSL afterwards.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "offhook datagrams") else {
            return nil
        }
        BIO_meth_set_write(method, write)
        BIO_meth_set_read(method, read)
        BIO_meth_set_ctrl(method, control)
        return method
    }()

    private static func object(of bio: OpaquePointer?) -> DatagramBIO? {
        guard let data = BIO_get_data(bio) else { return nil }
        return Unmanaged<DatagramBIO>.fromOpaque(data).takeUnretainedValue()
    }

    private static let write: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
        bio, bytes, count in
        guard let object = object(of: bio), let bytes, count > 0 else { return -1 }
        let buffer = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        object.written.append(Array(buffer))
        return count
    }

    private static let read: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32) -> Int32 = {
        bio, room, capacity in
        guard let object = object(of: bio), let room, capacity > 0 else { return -1 }
        BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        guard let datagram = object.incoming else {
            BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        object.incoming = nil
        // What is longer than OpenSSL's room is longer than any record, and cut like a datagram read from a socket.
        let count = min(datagram.count, Int(capacity))
        datagram.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: room, count: count).copyMemory(from: .init(rebasing: bytes[..<count]))
        }
        return Int32(count)
    }

    private static let control: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int = {
        bio, command, _, argument in
        switch command {
        case BIO_CTRL_FLUSH, BIO_CTRL_DUP: return 1
        case BIO_CTRL_DGRAM_QUERY_MTU, BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return DTLSAssociation.maximumDatagramSize
        case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
            object(of: bio)?.noteTimer(argument?.assumingMemoryBound(to: timeval.self))
            return 1
        default: return 0
        }
    }

    private static let timerInterval: DTLS_timer_cb = { connection, _ in
        let hour: UInt32 = 3_600_000_000
        guard !showsTimerItself, let object = object(of: SSL_get_rbio(connection)) else { return hour }
        return object.interval
    }

    private func noteTimer(_ time: UnsafeMutablePointer<timeval>?) {
        guard let time else { return }
        let isRunning = time.pointee.tv_sec != 0 || time.pointee.tv_usec != 0
        if isRunning, !isTimerRunning { timedFlights += 1 }
        isTimerRunning = isRunning
        if Self.showsTimerItself { timer = time }
    }
}
