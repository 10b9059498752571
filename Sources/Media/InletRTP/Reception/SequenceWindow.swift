/// Remembers the timestamps of recent packets by extended sequence number. A packet received twice has the same
/// timestamp, while a restarted sender uses the same number with a different one.
struct SequenceWindow: Sendable {
    /// The number of sequence numbers remembered. A power of two.
    static let size = 512

    // Numbers that no packet has.
    private var sequences = [Int](repeating: .min, count: size)
    private var timestamps = [UInt32](repeating: 0, count: size)

    /// Records a packet, which replaces the one received 512 numbers before.
    mutating func note(_ sequence: Int, timestamp: UInt32) {
        let place = sequence & (Self.size - 1)
        sequences[place] = sequence
        timestamps[place] = timestamp
    }

    /// Returns the timestamp of a recent packet; nil if no recent packet had that number.
    func timestamp(of sequence: Int) -> UInt32? {
        let place = sequence & (Self.size - 1)
        return sequences[place] == sequence ? timestamps[place] : nil
    }

    /// Forgets all packets.
    mutating func reset() {
        for place in sequences.indices { sequences[place] = .min }
    }
}
