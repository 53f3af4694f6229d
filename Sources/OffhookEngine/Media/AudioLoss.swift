/// How much of our sound does not arrive, for the encoder's forward error correction.
struct AudioLoss {
    private var fraction = 0.1
    private var told = 10

    /// Takes the counts of a report; the per cent to tell the encoder, where they have changed noticeably.
    mutating func note(_ lost: Int, of total: Int) -> Int? {
        guard total > 0 else { return nil }
        // Up at once, down slowly: a copy too many costs little.
        let share = Double(lost) / Double(total)
        fraction = share > fraction ? share : fraction + (share - fraction) * 0.2
        let percent = min(30, max(2, Int((fraction * 100).rounded())))
        guard abs(percent - told) >= 2 else { return nil }
        told = percent
        return percent
    }
}
