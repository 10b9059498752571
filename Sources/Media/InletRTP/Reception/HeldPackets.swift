import InletCore

// Unsafe: copies received bytes.
/// Copies of packets that wait, by extended sequence number. It allocates when the first packet is held, and then only
/// to grow towards its limits.
struct HeldPackets: Sendable {
    private struct Place: Sendable {
        var sequence: Int
        var packet: ReceivedPacket
        var bytes: Range<Int>
    }

    /// The most packets; a power of two. Sequence numbers held at the same time differ by less.
    let capacity: Int
    private let maximumBytes: Int
    private var places: [Place?] = []
    /// The packets in the order of arrival, and the bytes of those delivered since it was last empty.
    private var memory: [UInt8] = []
    private var heldBytes = 0
    private(set) var count = 0

    init(capacity: Int, maximumBytes: Int) {
        self.capacity = capacity
        self.maximumBytes = max(0, maximumBytes)
    }

    var isEmpty: Bool { count == 0 }

    func contains(_ sequence: Int) -> Bool { place(of: sequence) != nil }

    /// Returns the facts about a packet; nil if it is not held.
    func packet(_ sequence: Int) -> ReceivedPacket? { place(of: sequence)?.packet }

    /// The arrival of the packet that has waited longest; nil if no packet waits.
    var earliestArrival: MonotonicTime? {
        guard count > 0 else { return nil }
        var earliest: MonotonicTime?
        for place in places {
            guard let arrival = place?.packet.arrival else { continue }
            if earliest.map({ arrival < $0 }) ?? true { earliest = arrival }
        }
        return earliest
    }

    /// Copies a packet.
    ///
    /// - Returns: false, without an effect, if the packet exceeds the limits.
    mutating func insert(_ sequence: Int, _ packet: ReceivedPacket, _ bytes: RawSpan) -> Bool {
        if places.isEmpty { places = [Place?](repeating: nil, count: capacity) }
        let index = sequence & (capacity - 1)
        guard places[index] == nil, heldBytes + bytes.byteCount <= maximumBytes else { return false }
        if memory.count + bytes.byteCount > maximumBytes { compact() }
        let start = memory.count
        unsafe bytes.withUnsafeBytes { unsafe memory.append(contentsOf: $0) }
        places[index] = Place(sequence: sequence, packet: packet, bytes: start..<memory.count)
        heldBytes += bytes.byteCount
        count += 1
        return true
    }

    /// Passes a packet on and removes it; does nothing if it is not held.
    mutating func deliver(
        _ sequence: Int, lostBefore: Int = 0, isRestart: Bool = false, to deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        guard var place = place(of: sequence) else { return }
        place.packet.lostBefore = lostBefore
        place.packet.isRestart = isRestart
        unsafe deliver(place.packet, memory.span.bytes.extracting(place.bytes))
        places[sequence & (capacity - 1)] = nil
        heldBytes -= place.bytes.count
        count -= 1
        if count == 0 { memory.removeAll(keepingCapacity: true) }
    }

    /// Removes all packets.
    mutating func removeAll() {
        guard count > 0 else { return }
        for index in places.indices { places[index] = nil }
        memory.removeAll(keepingCapacity: true)
        (heldBytes, count) = (0, 0)
    }

    private func place(of sequence: Int) -> Place? {
        guard count > 0, let place = places[sequence & (capacity - 1)], place.sequence == sequence else { return nil }
        return place
    }

    /// Closes the gaps that delivered packets left.
    private mutating func compact() {
        var compacted: [UInt8] = []
        compacted.reserveCapacity(maximumBytes)
        for index in places.indices {
            guard let bytes = places[index]?.bytes else { continue }
            places[index]?.bytes = compacted.count..<compacted.count + bytes.count
            compacted += memory[bytes]
        }
        memory = compacted
    }
}
