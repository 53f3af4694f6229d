internal import CLinux

/// What the loop tells about a descriptor, and is asked to tell.
struct Interest: OptionSet {
    let rawValue: UInt32

    static let read = Interest(rawValue: EPOLLIN.rawValue)
    static let write = Interest(rawValue: EPOLLOUT.rawValue)
    /// Told without being asked for.
    static let error = Interest(rawValue: EPOLLERR.rawValue)
    /// Told without being asked for: both ways are shut.
    static let hangUp = Interest(rawValue: EPOLLHUP.rawValue)
}

/// Something with a descriptor that an event loop watches.
protocol LoopSource: AnyObject {
    func loopDidSignal(_ events: Interest)
    /// The loop has ended: close the descriptor and let go of handlers, without calling the loop.
    func loopDidEnd()
}

/// A place in the loop's table and its generation, so that an event for a closed descriptor never reaches the next
/// owner of its place.
struct SourceID: Hashable {
    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(index: Int, generation: UInt32) {
        rawValue = UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: index))
    }

    var index: Int { Int(UInt32(truncatingIfNeeded: rawValue)) }
    var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
}

/// The sources of a loop by their identifiers.
struct SourceTable {
    private struct Place {
        var source: (any LoopSource)?
        // Stays below the bits that would make an identifier look like the loop's own wake descriptor.
        var generation: UInt32 = 0
    }

    private var places: [Place] = []
    private var free: [Int] = []

    mutating func insert(_ source: any LoopSource) -> SourceID {
        let index = free.popLast() ?? places.count
        if index == places.count { places.append(Place()) }
        places[index].source = source
        return SourceID(index: index, generation: places[index].generation)
    }

    mutating func remove(_ id: SourceID) {
        guard self[id] != nil else { return }
        places[id.index].source = nil
        places[id.index].generation = (places[id.index].generation + 1) & 0x7FFF_FFFF
        free.append(id.index)
    }

    subscript(_ id: SourceID) -> (any LoopSource)? {
        guard id.index < places.count, places[id.index].generation == id.generation else { return nil }
        return places[id.index].source
    }

    mutating func removeAll() -> [any LoopSource] {
        defer { self = SourceTable() }
        return places.compactMap(\.source)
    }
}
