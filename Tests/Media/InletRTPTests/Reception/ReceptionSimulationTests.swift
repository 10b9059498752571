import InletCore
import InletRTP
import Testing

/// A network that delays, duplicates and loses packets by a seed, and a caller that wakes at each deadline.
@Suite struct ReceptionSimulationTests {
    private struct Arrival {
        var microseconds: Int
        var sequence: Int
    }

    /// The packets of a stream of 25 pictures a second with ten packets each, in the order of their arrival.
    private static func arrivals(
        _ random: inout SplitMix64, count: Int, delay: Int, loss: Double, duplication: Double
    ) -> (arrivals: [Arrival], lost: Set<Int>) {
        var arrivals: [Arrival] = []
        var lost: Set<Int> = []
        for sequence in 0..<count {
            let sent = sequence / 10 * 40_000 + sequence % 10 * 100
            // The first packet decides where the stream begins.
            guard sequence == 0 || random.fraction() >= loss else {
                lost.insert(sequence)
                continue
            }
            for _ in 0..<(random.fraction() < duplication ? 2 : 1) {
                let late = sequence == 0 ? 0 : Int(random.next() % UInt64(delay + 1))
                arrivals.append(Arrival(microseconds: sent + late, sequence: sequence))
            }
        }
        return (arrivals.sorted { ($0.microseconds, $0.sequence) < ($1.microseconds, $1.sequence) }, lost)
    }

    private static func time(_ microseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(microseconds) * 1000)
    }

    @Test("If the network reorders by less than the wait, all arrivals are delivered in order", arguments: 0..<8)
    func reordering(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let loss = seed < 2 ? 0 : 0.03
        let (arrivals, lost) = Self.arrivals(
            &random, count: 3000, delay: 15_000, loss: loss, duplication: 0.02)
        var settings = RTPReceiver.Settings()
        settings.payloadTypes = [96]
        var receiver = RTPReceiver(settings)
        var delivered: [(sequence: Int, lostBefore: Int, wait: Duration)] = []
        for arrival in arrivals {
            let now = Self.time(arrival.microseconds)
            while let deadline = receiver.deadline, deadline <= now {
                receiver.release(at: deadline) { packet, _ in
                    delivered.append((Int(packet.header.sequence), packet.lostBefore, deadline - packet.arrival))
                }
            }
            let bytes = PacketScript.packet(
                UInt16(arrival.sequence), timestamp: UInt32(arrival.sequence / 10 * 3600), size: 40)
            unsafe receiver.receive(bytes.span.bytes, at: now) { packet, _ in
                delivered.append((Int(packet.header.sequence), packet.lostBefore, now - packet.arrival))
            }
        }
        receiver.release(at: .distantFuture) { packet, _ in
            delivered.append((Int(packet.header.sequence), packet.lostBefore, .zero))
        }
        #expect(delivered.map(\.sequence) == (0..<3000).filter { !lost.contains($0) })
        let lastDelivered = delivered.last?.sequence ?? 0
        #expect(delivered.reduce(0) { $0 + $1.lostBefore } == lost.count { $0 < lastDelivered })
        #expect(receiver.statistics.lost == lost.count { $0 < lastDelivered })
        #expect(delivered.allSatisfy { $0.wait <= .milliseconds(30) })
        #expect(receiver.statistics.reordered > 1000)
    }

    @Test("A network that reorders by more than the wait delays nothing for longer", arguments: 0..<4)
    func longDelays(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let (arrivals, _) = Self.arrivals(&random, count: 3000, delay: 90_000, loss: 0.05, duplication: 0.05)
        var receiver = RTPReceiver(RTPReceiver.Settings())
        var last = -1
        var isInOrder = true
        var longest = Duration.zero
        for arrival in arrivals {
            let now = Self.time(arrival.microseconds)
            while let deadline = receiver.deadline, deadline <= now {
                receiver.release(at: deadline) { packet, _ in
                    isInOrder = isInOrder && Int(packet.header.sequence) == last + packet.lostBefore + 1
                    last = Int(packet.header.sequence)
                    longest = max(longest, deadline - packet.arrival)
                }
            }
            let bytes = PacketScript.packet(
                UInt16(arrival.sequence), timestamp: UInt32(arrival.sequence / 10 * 3600), size: 40)
            unsafe receiver.receive(bytes.span.bytes, at: now) { packet, _ in
                isInOrder = isInOrder && Int(packet.header.sequence) == last + packet.lostBefore + 1
                last = Int(packet.header.sequence)
                longest = max(longest, now - packet.arrival)
            }
        }
        #expect(isInOrder)
        #expect(longest <= .milliseconds(30))
        #expect(longest > .milliseconds(5))
        #expect(receiver.statistics.restarts == 0)
        #expect(receiver.statistics.late > 0)
    }
}
