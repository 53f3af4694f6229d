package import OffhookBasics

/// Which of many keys is due next: a heap of instants, each key with one deadline at most.
package struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let deadline: Instant
        let key: Key
    }

    // An entry whose deadline is no longer its key's is stale and dropped when it reaches the top.
    private var heap: [Entry] = []
    private var deadlines: [Key: Instant] = [:]

    package init() {}

    package var isEmpty: Bool {
        deadlines.isEmpty
    }

    /// Sets or, with nil, removes a key's deadline.
    package mutating func set(_ deadline: Instant?, for key: Key) {
        guard let deadline else {
            deadlines[key] = nil
            return
        }
        guard deadlines.updateValue(deadline, forKey: key) != deadline else { return }
        heap.append(Entry(deadline: deadline, key: key))
        siftUp(from: heap.count - 1)
        if heap.count > 64, heap.count > deadlines.count * 4 { compact() }
    }

    /// The earliest deadline.
    package mutating func nextDeadline() -> Instant? {
        dropStale()
        return heap.first?.deadline
    }

    /// Removes and returns the key that was due first, if it is due.
    package mutating func popDue(at now: Instant) -> Key? {
        dropStale()
        guard let first = heap.first, first.deadline <= now else { return nil }
        deadlines[first.key] = nil
        removeFirst()
        return first.key
    }

    private mutating func dropStale() {
        while let first = heap.first, deadlines[first.key] != first.deadline { removeFirst() }
    }

    private mutating func compact() {
        heap = deadlines.map { Entry(deadline: $1, key: $0) }
        heap.sort { $0.deadline < $1.deadline }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(from: 0)
    }

    private mutating func siftUp(from start: Int) {
        var index = start
        while index > 0, heap[index].deadline < heap[(index - 1) / 2].deadline {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(from start: Int) {
        var index = start
        while true {
            var least = index
            for child in [index * 2 + 1, index * 2 + 2]
            where child < heap.count && heap[child].deadline < heap[least].deadline {
                least = child
            }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
