internal import OffhookBasics

/// Armed timers by deadline; those of one deadline in the order they were armed.
struct TimerHeap {
    private struct Entry {
        var deadline: Instant
        var order: UInt64
        var timer: LoopTimer

        static func < (left: Entry, right: Entry) -> Bool {
            left.deadline == right.deadline ? left.order < right.order : left.deadline < right.deadline
        }
    }

    private var entries: [Entry] = []
    private var lastOrder: UInt64 = 0

    var nextDeadline: Instant? { entries.first?.deadline }
    var count: Int { entries.count }

    mutating func arm(_ timer: LoopTimer, at deadline: Instant) {
        lastOrder += 1
        let entry = Entry(deadline: deadline, order: lastOrder, timer: timer)
        if let place = timer.place {
            let isEarlier = entry < entries[place]
            entries[place] = entry
            if isEarlier { siftUp(place) } else { siftDown(place) }
        } else {
            entries.append(entry)
            timer.place = entries.count - 1
            siftUp(entries.count - 1)
        }
    }

    mutating func disarm(_ timer: LoopTimer) {
        guard let place = timer.place else { return }
        timer.place = nil
        let last = entries.removeLast()
        guard place < entries.count else { return }
        let isEarlier = last < entries[place]
        entries[place] = last
        last.timer.place = place
        if isEarlier { siftUp(place) } else { siftDown(place) }
    }

    /// Takes out the first timer that is due.
    mutating func takeDue(at now: Instant, armedBefore order: UInt64) -> LoopTimer? {
        guard let first = entries.first, first.deadline <= now, first.order <= order else { return nil }
        disarm(first.timer)
        return first.timer
    }

    /// Up to which timer armed so far; one that is armed while others fire waits for the next round.
    var newestOrder: UInt64 { lastOrder }

    mutating func removeAll() {
        for entry in entries {
            entry.timer.place = nil
            entry.timer.body = nil
        }
        entries.removeAll()
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        let entry = entries[place]
        while place > 0, entry < entries[(place - 1) / 2] {
            move(from: (place - 1) / 2, to: place)
            place = (place - 1) / 2
        }
        entries[place] = entry
        entry.timer.place = place
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        let entry = entries[place]
        while true {
            var child = place * 2 + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entry else { break }
            move(from: child, to: place)
            place = child
        }
        entries[place] = entry
        entry.timer.place = place
    }

    private mutating func move(from: Int, to: Int) {
        entries[to] = entries[from]
        entries[to].timer.place = to
    }
}
