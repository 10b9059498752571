internal import InletCore

/// The packets that are missing in a stream, and when each is requested.
///
/// A packet is requested once it has been missing for ``reordering``, and again when the answer to the last request is
/// late, up to ``mostRequests`` times. A sender that answers no requests gets no more of them. It has no clock: times
/// are passed in. Memory is bounded: a receiver waits for no more packets than its capacity.
struct MissingPackets: Sendable {
    private struct Packet: Sendable {
        var sequence: Int
        var due: MonotonicTime
        var requests = 0
        var lastRequest: MonotonicTime?
    }

    private let retransmission: Retransmission
    /// In the order of their numbers.
    private var packets: [Packet] = []
    /// The time from a request to its answer.
    private var roundTrip: Duration?
    /// Packets in a row that were requested in vain.
    private var unanswered = 0

    /// The time for which a missing packet may still come by itself.
    private static let reordering = Duration.milliseconds(3)
    /// The most requests for one packet: with 5 % of the packets lost, one packet in 3 million is lost as often.
    private static let mostRequests = 5
    /// The number of packets requested in vain before requests stop.
    private static let patience = 50
    /// The assumed time from a request to its answer before the first answer.
    private static let assumedRoundTrip = Duration.milliseconds(50)
    /// The longest time to wait for a missing packet: a viewer sees no longer break than from a short loss of a radio
    /// network.
    private static let longestHold = Duration.milliseconds(250)

    init(_ retransmission: Retransmission) { self.retransmission = retransmission }

    /// Whether the sender still answers, or has not been asked often enough.
    var isUseful: Bool { unanswered < Self.patience }

    /// The longest time to wait for a missing packet: two requests and their answers.
    var hold: Duration {
        let wait = Self.reordering + (interval + Self.reordering) * 2
        return min(wait, retransmission.time ?? Self.longestHold, Self.longestHold)
    }

    /// The time at which a request is due; nil if none is.
    var deadline: MonotonicTime? { packets.lazy.map(\.due).filter { $0 < .distantFuture }.min() }

    /// The time from one request for a packet to the next.
    private var interval: Duration { max((roundTrip ?? Self.assumedRoundTrip) * 3 / 2, .milliseconds(10)) }

    func contains(_ sequence: Int) -> Bool { packets.contains { $0.sequence == sequence } }

    /// Records that later packets have come.
    mutating func note(missing sequences: Range<Int>, at time: MonotonicTime) {
        guard isUseful else { return }
        packets += sequences.map { Packet(sequence: $0, due: time + Self.reordering) }
    }

    /// Records that a packet has come after all.
    ///
    /// - Parameter isRepeated: whether it is known to be an answer to a request.
    /// - Returns: whether it answers a request.
    mutating func noteArrival(of sequence: Int, isRepeated: Bool, at time: MonotonicTime) -> Bool {
        guard let index = packets.firstIndex(where: { $0.sequence == sequence }) else { return false }
        let packet = packets.remove(at: index)
        guard let last = packet.lastRequest, isRepeated || retransmission.stream == nil else { return false }
        unanswered = 0
        // An answer to the second request cannot be distinguished from a late answer to the first.
        if packet.requests == 1 {
            let sample = max(.zero, time - last)
            roundTrip = roundTrip.map { ($0 * 3 + sample) / 4 } ?? sample
        }
        return true
    }

    /// Records that packets before this one are no longer waited for.
    mutating func giveUp(before sequence: Int) {
        guard let first = packets.first, first.sequence < sequence else { return }
        let remaining = packets.drop { $0.sequence < sequence }
        unanswered += packets.prefix(packets.count - remaining.count).count { $0.requests > 0 }
        packets = Array(remaining)
        if !isUseful { packets = [] }
    }

    /// Returns the packets to request now, in their order, and counts them as requested.
    mutating func takeRequests(at time: MonotonicTime) -> [UInt16] {
        var requests: [UInt16] = []
        for index in packets.indices where packets[index].due <= time {
            requests.append(UInt16(truncatingIfNeeded: packets[index].sequence))
            packets[index].requests += 1
            packets[index].lastRequest = time
            packets[index].due = packets[index].requests < Self.mostRequests ? time + interval : .distantFuture
        }
        return requests
    }

    mutating func removeAll() { packets = [] }
}
