internal import OffhookBasics
internal import OffhookIO

/// What becomes of a datagram.
extension SimulatedNetwork {
    /// Takes a datagram from its sender, on the loop's thread.
    func transmit(_ bytes: [UInt8], from source: Endpoint, to destination: Endpoint) {
        let now = kernel.now
        let (rule, datagram) = state.withLock { state in
            (state.rule, Self.describe(bytes, from: source, to: destination, at: now, in: &state))
        }
        // Asked without the lock: a test's rule may look at the network.
        let isPicked = rule?(datagram) ?? false
        let arrivals = state.withLock { state in
            let arrivals = isPicked ? [] : state.arrivals(bytes.count, from: source, to: destination, at: now)
            if arrivals.isEmpty { state.lostCount += 1 }
            return arrivals
        }
        for arrival in arrivals {
            loop.schedule(at: arrival) { [weak self] in self?.deliver(bytes, from: source, to: destination) }
        }
    }

    private func deliver(_ bytes: [UInt8], from source: Endpoint, to destination: Endpoint) {
        // What was on its way when the cable was taken out does not arrive.
        let isConnected = state.withLock { $0.host(at: destination.address)?.isConnected ?? false }
        if isConnected { kernel.deliver(bytes, from: source, to: destination) }
    }

    static func isSignaling(_ source: Endpoint, _ destination: Endpoint) -> Bool {
        source.port == signalingPort || destination.port == signalingPort
    }

    private static func describe(
        _ bytes: [UInt8], from source: Endpoint, to destination: Endpoint, at now: Instant, in state: inout State
    ) -> SimulatedDatagram {
        let isSignaling = isSignaling(source, destination)
        let index = isSignaling ? state.signalingCount : state.mediaCount
        if isSignaling { state.signalingCount += 1 } else { state.mediaCount += 1 }
        return SimulatedDatagram(
            index: index, sender: state.host(at: source.address)?.name ?? "",
            receiver: state.host(at: destination.address)?.name, bytes: bytes, isSignaling: isSignaling,
            time: now - start)
    }
}

extension SimulatedNetwork.State {
    func host(at address: IPAddress) -> SimulatedNetwork.Host? {
        hosts.first { $0.address == address }
    }

    /// When a datagram arrives: never, once, or twice.
    mutating func arrivals(
        _ byteCount: Int, from source: Endpoint, to destination: Endpoint, at now: Instant
    ) -> [Instant] {
        guard let sender = hosts.firstIndex(where: { $0.address == source.address }), hosts[sender].isConnected,
            host(at: destination.address) != nil
        else { return [] }
        var departure = now
        if let bandwidth = conditions.bandwidth, bandwidth > 0 {
            let start = max(now, hosts[sender].isFreeAt)
            guard start - now <= conditions.queueLimit else { return [] }
            // IPv4 and UDP headers travel too.
            departure = start + .seconds(Double((byteCount + 28) * 8) / Double(bandwidth))
            hosts[sender].isFreeAt = departure
        }
        // The dice are thrown for each datagram alike, so that a change of one condition leaves the others' luck alone.
        let isSignaling = SimulatedNetwork.isSignaling(source, destination)
        var random = isSignaling ? signalingRandom : mediaRandom
        let isLost = random.fraction() < conditions.loss
        let isTwice = random.fraction() < conditions.duplication
        let isOvertaken = random.fraction() < conditions.reordering
        let delay = conditions.latency + conditions.jitter * random.fraction()
        if isSignaling { signalingRandom = random } else { mediaRandom = random }
        guard !isLost else { return [] }
        let path = SimulatedNetwork.Path(source: source.address, destination: destination.address)
        var arrival = departure + delay
        if isOvertaken {
            arrival = arrival + max(conditions.latency, .milliseconds(20))
        } else {
            arrival = max(arrival, newestArrival[path] ?? arrival)
            newestArrival[path] = arrival
        }
        return isTwice ? [arrival, arrival + .milliseconds(1)] : [arrival]
    }
}

extension SeededRandom {
    /// A number from 0 up to 1.
    fileprivate mutating func fraction() -> Double {
        Double(next() >> 11) / Double(1 << 53)
    }
}
