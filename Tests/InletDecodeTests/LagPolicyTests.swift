import InletCore
import Testing

@testable import InletDecode

/// Streams that share processors, worked through in steps of a millisecond: each decodes a packet at a time, by turns.
private struct SharedProcessors {
    var streams = 14
    var rate = 30.0
    var group = 60
    /// Seconds that a packet takes on a processor, and a key frame.
    var cost = 0.0095
    var keyCost = 0.012
    var processors = 2
    /// From stream to stream, in seconds.
    var offset = 0.037
    /// Of so many packets all but one are of pictures that no other refers to; 0 is none.
    var nonReference = 0
    /// When processors are taken away, in seconds.
    var outage: Range<Double>?

    struct Outcome {
        var shown: [Int]
        var ages: [Double] = []
        var longestGap = 0.0
        /// Pictures whose packets refer to one that was left out.
        var broken = 0

        var total: Int { shown.reduce(0, +) }
        func age(_ part: Double) -> Double { ages.sorted()[Int(Double(ages.count - 1) * part)] }
    }

    private struct Waiting {
        var number: Int
        var arrival: Double
    }

    private struct Stream {
        var policy: LagPolicy
        var queue: [Waiting] = []
        var next = 0
        var begin: Double
        var current: (packet: Waiting, left: Double, start: Double)?
        var lastShown = 0.0
        /// A packet to which others refer was left out since the last key frame.
        var lacks = false
    }

    /// What a machine without any policy shows: as many as it can decode.
    func capacity(_ seconds: Double) -> Double {
        min(Double(streams) * rate, Double(processors) / (cost + (keyCost - cost) / Double(group))) * seconds
    }

    func run(_ seconds: Double, seed: UInt64) -> Outcome {
        var outcome = Outcome(shown: Array(repeating: 0, count: streams))
        var all = (0..<streams).map {
            Stream(
                policy: LagPolicy(limit: .milliseconds(150), seed: seed &* 1000 &+ UInt64($0)),
                begin: Double($0) * offset)
        }
        func isKey(_ packet: Waiting) -> Bool { packet.number % group == 0 }
        func isNonReference(_ packet: Waiting) -> Bool {
            nonReference > 0 && !isKey(packet) && packet.number % nonReference != 0
        }
        func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 1 << 40) + .seconds(seconds) }
        let step = 0.001
        for tick in 0..<Int(seconds / step) {
            let now = Double(tick) * step
            for index in all.indices {
                while all[index].begin + Double(all[index].next) / rate <= now {
                    all[index].queue.append(Waiting(number: all[index].next, arrival: now))
                    all[index].next += 1
                }
            }
            // What is sure to be left out needs no turn.
            for index in all.indices where all[index].current == nil {
                while let first = all[index].queue.first,
                    all[index].policy.leavesOut(isKey: isKey(first), at: time(now))
                {
                    if !isNonReference(first) { all[index].lacks = true }
                    all[index].queue.removeFirst()
                }
            }
            while all.count(where: { $0.current != nil }) < processors {
                let waiting = all.indices.filter { all[$0].current == nil && !all[$0].queue.isEmpty }
                let next = waiting.min {
                    all[$0].policy.rank(isKey: isKey(all[$0].queue[0]), at: time(now))
                        < all[$1].policy.rank(isKey: isKey(all[$1].queue[0]), at: time(now))
                }
                guard let next else { break }
                let packet = all[next].queue.removeFirst()
                let facts = LagPolicy.Packet(
                    isKey: isKey(packet), isNonReference: isNonReference(packet), arrival: time(packet.arrival),
                    precedesKey: all[next].queue.contains(where: isKey), waiting: all[next].queue.count)
                if all[next].policy.leavesOut(isKey: facts.isKey, at: time(now)) { continue }
                if all[next].policy.decodes(facts, at: time(now)) {
                    if facts.isKey { all[next].lacks = false }
                    if all[next].lacks { outcome.broken += 1 }
                    all[next].current = (packet, facts.isKey ? keyCost : cost, now)
                } else if !facts.isNonReference {
                    all[next].lacks = true
                }
            }
            if let outage, outage.contains(now) { continue }
            for index in all.indices {
                guard var current = all[index].current else { continue }
                current.left -= step
                all[index].current = current
                guard current.left <= 0 else { continue }
                all[index].current = nil
                all[index].policy.noteDecoding(took: .seconds(now + step - current.start))
                guard all[index].policy.shows(arrival: time(current.packet.arrival), at: time(now + step)) else {
                    continue
                }
                outcome.shown[index] += 1
                outcome.ages.append(now + step - current.packet.arrival)
                outcome.longestGap = max(outcome.longestGap, now - all[index].lastShown)
                all[index].lastShown = now
            }
        }
        return outcome
    }
}

@Suite struct LagPolicyTests {
    @Test(
        "Streams that are too many share the processors: most of what can be decoded is shown in time, and all have their part",
        arguments: [(14, 0.0095, 1), (20, 0.0095, 2), (14, 0.0052, 3), (20, 0.012, 4)] as [(Int, Double, UInt64)])
    func shares(_ load: (streams: Int, cost: Double, seed: UInt64)) {
        var machine = SharedProcessors()
        (machine.streams, machine.cost, machine.keyCost) = (load.streams, load.cost, load.cost * 1.5)
        let outcome = machine.run(20, seed: load.seed)
        #expect(Double(outcome.total) >= 0.75 * machine.capacity(20), "\(outcome.total) of \(machine.capacity(20))")
        #expect(outcome.age(0.95) <= 0.15)
        // No stream misses two groups in a row.
        #expect(outcome.longestGap < 4)
        #expect(outcome.broken == 0)
        let (least, most) = (outcome.shown.min() ?? 0, outcome.shown.max() ?? 0)
        #expect(least * 2 >= most, "\(outcome.shown)")
    }

    @Test("Streams whose groups begin together do not all stop together")
    func together() {
        var machine = SharedProcessors()
        machine.offset = 0.0003
        let outcome = machine.run(10, seed: 4)
        #expect(Double(outcome.total) >= 0.6 * machine.capacity(10), "\(outcome.total) of \(machine.capacity(10))")
        #expect(outcome.age(0.95) <= 0.15)
        #expect(outcome.longestGap < 3)
    }

    @Test(
        "Pictures that no other refers to are left out first: a stream for one slow processor is never without pictures"
    )
    func nonReference() {
        let machine = SharedProcessors(
            streams: 1, rate: 120, group: 240, cost: 0.014, keyCost: 0.02, processors: 1, nonReference: 3)
        let outcome = machine.run(30, seed: 5)
        #expect(Double(outcome.total) >= 0.8 * machine.capacity(30), "\(outcome.total) of \(machine.capacity(30))")
        #expect(outcome.age(0.95) <= 0.15)
        #expect(outcome.longestGap < 3)
        #expect(outcome.broken == 0)
    }

    @Test("Where there is time, nothing is left out, also after a standstill that was short")
    func calm() {
        var machine = SharedProcessors()
        machine.streams = 4
        #expect(machine.run(20, seed: 6).total >= 4 * 30 * 20 - 4 * 6)
        machine.outage = 10..<10.2
        // Six or seven pictures each are late by then, and no group is given up for them.
        let outcome = machine.run(20, seed: 6)
        #expect(outcome.total >= 4 * 30 * 20 - 4 * 20, "\(outcome.total)")
        #expect(outcome.longestGap < 0.6, "\(outcome.longestGap)")
    }

    @Test("A decoder that is never in time still shows a picture now and then")
    func starving() {
        let machine = SharedProcessors(streams: 1, rate: 5, group: 5, cost: 0.4, keyCost: 0.4, processors: 1)
        let outcome = machine.run(20, seed: 7)
        #expect(outcome.total >= 6)
        #expect(outcome.longestGap < 3)
    }

    @Test("A stream that has no key frames any more is decoded on, though late")
    func withoutKeys() {
        var policy = LagPolicy(limit: .milliseconds(150), seed: 1)
        let start = MonotonicTime(nanoseconds: 1 << 40)
        for number in 0..<100 {
            let arrival = start + .milliseconds(33) * number
            let isDecoded = policy.decodes(
                .init(isKey: number == 0, arrival: arrival, waiting: 100), at: arrival + .milliseconds(10 * number))
            #expect(isDecoded)
        }
    }

    @Test("An episode begins with the first that is left out and ends when nothing was for two seconds")
    func episodes() {
        var policy = LagPolicy(limit: .milliseconds(150), seed: 1)
        let start = MonotonicTime(nanoseconds: 1 << 40)
        func decodes(_ isKey: Bool, arrival: Duration, at now: Duration, waiting: Int = 100) -> Bool {
            policy.decodes(
                .init(isKey: isKey, arrival: start + arrival, waiting: waiting), at: start + now)
        }
        #expect(decodes(true, arrival: .milliseconds(-500), at: .milliseconds(-500)))
        #expect(decodes(true, arrival: .zero, at: .zero))
        policy.noteDecoding(took: .milliseconds(80))
        let isShown = policy.shows(arrival: start, at: start + .milliseconds(80))
        #expect(isShown)
        #expect(!policy.isLagging)
        #expect(!decodes(false, arrival: .milliseconds(33), at: .milliseconds(300)))
        #expect(policy.isLagging)
        // The rest of the group is left out, however early.
        let rest = policy.leavesOut(isKey: false, at: start + .milliseconds(400))
        let key = policy.leavesOut(isKey: true, at: start + .milliseconds(400))
        #expect(rest && !key)
        #expect(decodes(true, arrival: .milliseconds(500), at: .milliseconds(500)))
        #expect(policy.isLagging)
        #expect(decodes(false, arrival: .milliseconds(2500), at: .milliseconds(2500)))
        #expect(!policy.isLagging)
    }
}
