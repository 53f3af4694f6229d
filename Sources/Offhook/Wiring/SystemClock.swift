internal import Glibc
internal import OffhookRTP

/// The wall clock, for sender reports.
enum SystemClock {
    static var wallTime: NTPTimestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return NTPTimestamp(unixNanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
