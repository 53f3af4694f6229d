/// A fixed number of slots that are found by a running number, the way jitter buffers and packet histories keep packets.
///
/// A number's slot is the number modulo the capacity; whoever uses it checks that the slot's content is of that number.
final class SlotRing<Slot> {
    // A block of its own instead of an array: each access to an array inside a class costs ten times as much for the
    // checks of exclusive access. Every index is masked, so none lies outside.
    private let slots: UnsafeMutablePointer<Slot>
    private let mask: Int

    var capacity: Int { mask + 1 }

    /// The capacity must be a power of two.
    init(capacity: Int, repeating empty: Slot) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "give a power of two as the capacity of a ring")
        mask = capacity - 1
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: empty, count: capacity)
    }

    deinit {
        slots.deinitialize(count: capacity)
        slots.deallocate()
    }

    subscript(number: Int) -> Slot {
        _read { yield slots[number & mask] }
        _modify { yield &slots[number & mask] }
    }
}
