package import OffhookBasics

/// When each of many machines wants to be called next, with the earliest at hand.
///
/// A binary heap whose outdated entries are dropped when they surface, so that moving a deadline, which media does with
/// every packet, costs no search.
package struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var deadline: Instant
        var key: Key
    }

    private var heap: [Entry] = []
    private var current: [Key: Instant] = [:]

    package init() {}

    /// The earliest deadline of all.
    package var earliest: Instant? {
        mutating get {
            dropOutdated()
            return heap.first?.deadline
        }
    }

    /// Sets, moves or clears a machine's deadline.
    package mutating func set(_ deadline: Instant?, for key: Key) {
        guard let deadline else {
            current[key] = nil
            return
        }
        let previous = current.updateValue(deadline, forKey: key)
        guard previous != deadline else { return }
        heap.append(Entry(deadline: deadline, key: key))
        siftUp(from: heap.count - 1)
        if heap.count > 64, heap.count > current.count * 4 { rebuild() }
    }

    /// Takes out one machine whose deadline has come.
    package mutating func popDue(at now: Instant) -> Key? {
        dropOutdated()
        guard let first = heap.first, first.deadline <= now else { return nil }
        removeFirst()
        current[first.key] = nil
        return first.key
    }

    private mutating func dropOutdated() {
        while let first = heap.first, current[first.key] != first.deadline { removeFirst() }
    }

    private mutating func rebuild() {
        heap = current.map { Entry(deadline: $0.value, key: $0.key) }.sorted { $0.deadline < $1.deadline }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2)
            where child < heap.count && heap[child].deadline < heap[least].deadline {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private mutating func siftUp(from index: Int) {
        var child = index
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }
}
