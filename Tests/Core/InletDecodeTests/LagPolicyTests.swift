import DequeModule
import InletCore
import Testing

@testable import InletDecode

/// Streams that share processors, simulated in steps of a millisecond: the system serves all decoders equally, and none
/// knows of another.
private struct SharedProcessors {
    var streams = 14
    var rate = 30.0
    var group = 60
    /// The processor seconds for a packet, and for a key frame.
    var cost = 0.0048
    var keyCost = 0.01
    var processors = 2.0
    /// The offset between streams, in seconds; nil spreads them over a group.
    var offset: Double? = 0
    /// One of this many packets is referenced, the others are not; 0 if all are.
    var nonReference = 0
    /// The times when processors are taken away, in seconds.
    var outage: Range<Double>?
    /// The times when packets are delayed on their way, in seconds; they arrive together at the end.
    var holdUp: Range<Double>?
    var limit = 0.25
    /// Whether streams have the policy; those without it decode everything they can.
    var skips = true

    struct Outcome {
        var shown: [Int]
        var decoded = 0
        var skipped = 0
        var ages: [Double] = []
        var longestGap = 0.0
        /// Pictures whose packets refer to a skipped one.
        var broken = 0
        /// The share of the processors' time that was not used, from the second group on.
        var idle = 0.0

        var total: Int { shown.reduce(0, +) }
        func age(_ part: Double) -> Double { ages.sorted()[Int(Double(ages.count - 1) * part)] }
    }

    private struct Waiting {
        var number: Int
        var arrival: Double
    }

    private struct Stream {
        var policy: LagPolicy
        var generator: SplitMix64
        var begin: Double
        var queue: Deque<Waiting> = []
        var next = 0
        var current: (packet: Waiting, left: Double, cost: Double, start: Double)?
        var lastShown = 0.0
        /// Whether a packet to which others refer was skipped since the last key frame.
        var lacks = false
    }

    /// The arriving work, as a share of the processors' capacity.
    var load: Double { Double(streams) * rate * (cost + (keyCost - cost) / Double(group)) / processors }

    func run(_ seconds: Double, seed: UInt64) -> Outcome {
        var outcome = Outcome(shown: Array(repeating: 0, count: streams))
        let period = Double(group) / rate
        var all = (0..<streams).map {
            Stream(
                policy: LagPolicy(limit: .seconds(limit), seed: seed &* 1000 &+ UInt64($0)),
                generator: SplitMix64(seed: seed &* 7919 &+ UInt64($0)),
                begin: Double($0) * (offset ?? period / Double(streams)))
        }
        let step = 0.001
        for tick in 0..<Int(seconds / step) {
            let now = Double(tick) * step
            for index in all.indices {
                receive(&all[index], at: now)
                while all[index].current == nil, !all[index].queue.isEmpty {
                    begin(&all[index], at: now, &outcome)
                }
            }
            let busy = all.count { $0.current != nil }
            if now > period { outcome.idle += max(0, 1 - Double(busy) / processors) * step / (seconds - period) }
            if busy == 0 || outage?.contains(now) == true { continue }
            // A stream uses at most one processor.
            let share = min(1, processors / Double(busy)) * step
            for index in all.indices where all[index].current != nil {
                all[index].current?.left -= share
                if let left = all[index].current?.left, left <= 0 { end(&all[index], index, at: now + step, &outcome) }
            }
        }
        return outcome
    }

    private func isKey(_ packet: Waiting) -> Bool { packet.number % group == 0 }

    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 1 << 40) + .seconds(seconds) }

    private func receive(_ stream: inout Stream, at now: Double) {
        guard holdUp?.contains(now) != true else { return }
        while stream.begin + Double(stream.next) / rate <= now {
            stream.queue.append(Waiting(number: stream.next, arrival: now))
            stream.next += 1
        }
    }

    private func begin(_ stream: inout Stream, at now: Double, _ outcome: inout Outcome) {
        let packet = stream.queue.removeFirst()
        let isKey = isKey(packet)
        let isNonReference = nonReference > 0 && !isKey && packet.number % nonReference != 0
        let facts = LagPolicy.Packet(
            isKey: isKey, isNonReference: isNonReference, arrival: time(packet.arrival),
            precedesKey: stream.queue.contains { self.isKey($0) }, waiting: stream.queue.count)
        if skips {
            guard !stream.policy.leavesOut(isKey: isKey, at: time(now)), stream.policy.decodes(facts, at: time(now))
            else {
                outcome.skipped += 1
                if !isNonReference { stream.lacks = true }
                return
            }
        }
        if isKey { stream.lacks = false }
        if stream.lacks { outcome.broken += 1 }
        let cost = (isKey ? keyCost : cost) * (0.8 + 0.4 * stream.generator.fraction())
        stream.current = (packet, cost, cost, now)
    }

    private func end(_ stream: inout Stream, _ index: Int, at now: Double, _ outcome: inout Outcome) {
        guard let current = stream.current else { return }
        stream.current = nil
        outcome.decoded += 1
        stream.policy.noteDecoding(took: .seconds(now - current.start), processor: .seconds(current.cost))
        guard stream.policy.shows(arrival: time(current.packet.arrival), at: time(now)) else { return }
        outcome.shown[index] += 1
        outcome.ages.append(now - current.packet.arrival)
        outcome.longestGap = max(outcome.longestGap, now - stream.lastShown)
        stream.lastShown = now
    }

    /// The same streams without a policy.
    func withoutPolicy(_ seconds: Double, seed: UInt64) -> Outcome {
        var others = self
        others.skips = false
        return others.run(seconds, seed: seed)
    }
}

@Suite struct LagPolicyTests {
    /// Streams that need more than two processors, and the pictures that they show compared with a run without the
    /// policy.
    private static let overload: [(streams: Int, keyCost: Double, offset: Double?, share: Double)] = [
        (14, 0.01, 0, 0.92), (14, 0.01, nil, 0.92), (14, 0.02, 0, 0.88), (14, 0.02, nil, 0.92), (20, 0.01, 0, 0.85),
        (20, 0.01, nil, 0.85), (20, 0.02, 0, 0.78), (20, 0.02, nil, 0.85),
    ]

    @Test(
        "Under overload most pictures are shown in time, whether or not key frames coincide, and every stream has its share",
        arguments: overload, [1, 2] as [UInt64])
    func shares(_ load: (streams: Int, keyCost: Double, offset: Double?, share: Double), seed: UInt64) {
        var machine = SharedProcessors()
        (machine.streams, machine.keyCost, machine.offset) = (load.streams, load.keyCost, load.offset)
        let outcome = machine.run(20, seed: seed)
        let most = machine.withoutPolicy(20, seed: seed).decoded
        #expect(Double(outcome.total) >= load.share * Double(most), "\(outcome.total) of \(most)")
        #expect(outcome.age(0.95) <= machine.limit)
        // No stream misses two groups in a row.
        #expect(outcome.longestGap < 3)
        #expect(outcome.broken == 0)
        #expect(outcome.idle < 0.1, "\(outcome.idle)")
        #expect((outcome.shown.min() ?? 0) * 3 >= outcome.shown.max() ?? 0, "\(outcome.shown)")
    }

    @Test("Streams of only key frames show their newest pictures under heavy overload")
    func keyFramesAlone() {
        let machine = SharedProcessors(streams: 30, group: 1, cost: 0.0055, keyCost: 0.0055)
        let outcome = machine.run(10, seed: 3)
        #expect(Double(outcome.total) >= 0.9 * Double(machine.withoutPolicy(10, seed: 3).decoded))
        #expect(outcome.age(0.95) <= machine.limit)
        #expect(outcome.longestGap < 0.5)
    }

    @Test("Nothing is skipped at 70 % load, even if key frames coincide, or after a short standstill")
    func calm() {
        var machine = SharedProcessors(streams: 14, cost: 0.0032, keyCost: 0.012)
        #expect(machine.load > 0.68 && machine.load < 0.75)
        var outcome = machine.run(20, seed: 6)
        #expect(outcome.skipped == 0 && outcome.total >= 14 * 30 * 20 - 14 * 6)
        (machine.streams, machine.outage) = (8, 10..<10.2)
        outcome = machine.run(20, seed: 6)
        #expect(outcome.skipped == 0 && outcome.total >= 8 * 30 * 20 - 8 * 6)
        #expect(outcome.longestGap < 0.6, "\(outcome.longestGap)")
    }

    @Test("A burst after a network outage is decoded, and its late pictures are not shown")
    func burst() {
        let machine = SharedProcessors(streams: 4, cost: 0.004, keyCost: 0.006, holdUp: 10.5..<11.2)
        let outcome = machine.run(20, seed: 6)
        #expect(outcome.skipped == 0 && outcome.total >= 4 * 30 * 20 - 4 * 12, "\(outcome.total)")
    }

    @Test(
        "Unreferenced pictures are skipped first: a stream too heavy for one processor stays smooth"
    )
    func nonReference() {
        let machine = SharedProcessors(
            streams: 1, rate: 120, group: 240, cost: 0.014, keyCost: 0.02, processors: 1, nonReference: 3)
        let outcome = machine.run(30, seed: 5)
        #expect(Double(outcome.total) >= 0.8 * Double(machine.withoutPolicy(30, seed: 5).decoded))
        #expect(outcome.age(0.95) <= machine.limit)
        #expect(outcome.longestGap < 3)
        #expect(outcome.broken == 0)
    }

    @Test("A decoder that is too slow on its own shows each group up to the limit")
    func alone() {
        let machine = SharedProcessors(streams: 1, cost: 0.04, keyCost: 0.06, processors: 1)
        let outcome = machine.run(20, seed: 7)
        #expect(Double(outcome.total) >= 0.5 * Double(machine.withoutPolicy(20, seed: 7).decoded))
        #expect(outcome.age(0.95) <= machine.limit)
        #expect(outcome.longestGap < 1.5)
    }

    @Test("A decoder that is never in time still shows a picture occasionally")
    func starving() {
        let machine = SharedProcessors(streams: 1, rate: 5, group: 5, cost: 0.4, keyCost: 0.4, processors: 1)
        let outcome = machine.run(20, seed: 7)
        #expect(outcome.total >= 6)
        #expect(outcome.longestGap < 3)
    }

    @Test("A stream that has no more key frames is still decoded, though late")
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

    @Test("A stream whose key frames end is still decoded, also after frequent ones")
    func lastKeys() {
        var policy = LagPolicy(limit: .milliseconds(150), seed: 1)
        let start = MonotonicTime(nanoseconds: 1 << 40)
        // A key frame a second, two in total; from 10 s on every packet is late by a second.
        for number in 0..<600 {
            let arrival = start + .milliseconds(33) * number
            let late = number > 300
            let isDecoded = policy.decodes(
                .init(isKey: number == 0 || number == 30, arrival: arrival, waiting: late ? number : 0),
                at: arrival + (late ? .seconds(1) : .milliseconds(1)))
            #expect(isDecoded)
        }
    }

    @Test("A backlog above the limit that does not shrink is dropped after half a second")
    func plateau() {
        var policy = LagPolicy(limit: .milliseconds(150), seed: 1)
        let start = MonotonicTime(nanoseconds: 1 << 40)
        var decoded = 0
        for number in 0..<100 {
            let arrival = start + .milliseconds(33) * number
            let lag: Duration =
                number < 60
                ? .milliseconds(1) : .milliseconds(number < 90 ? 400 : 160) - .milliseconds(2) * (number % 30)
            let packet = LagPolicy.Packet(isKey: number % 45 == 0, arrival: arrival, waiting: number < 60 ? 0 : 12)
            if policy.leavesOut(isKey: packet.isKey, at: arrival + lag) { continue }
            decoded += policy.decodes(packet, at: arrival + lag) ? 1 : 0
        }
        // The time starts again in the next group: all ten of its packets are decoded.
        #expect((84..<90).contains(decoded), "\(decoded)")
    }

    @Test("Unreferenced pictures are decoded if nothing waits behind them, however long that takes")
    func steadyLag() {
        var policy = LagPolicy(limit: .milliseconds(250), seed: 1)
        let start = MonotonicTime(nanoseconds: 1 << 40)
        for number in 0..<100 {
            let arrival = start + .milliseconds(100) * number
            let isDecoded = policy.decodes(
                .init(isKey: number % 20 == 0, isNonReference: number % 2 == 1, arrival: arrival), at: arrival)
            #expect(isDecoded)
            policy.noteDecoding(took: .milliseconds(80), processor: .milliseconds(70))
        }
    }

    @Test("An episode begins with the first skipped packet, and ends after two seconds without one")
    func episodes() {
        var policy = LagPolicy(limit: .milliseconds(150), seed: 1)
        let start = MonotonicTime(nanoseconds: 1 << 40)
        func decodes(_ isKey: Bool, arrival: Duration, at now: Duration, waiting: Int = 100) -> Bool {
            policy.decodes(.init(isKey: isKey, arrival: start + arrival, waiting: waiting), at: start + now)
        }
        #expect(decodes(true, arrival: .milliseconds(-500), at: .milliseconds(-500)))
        #expect(decodes(true, arrival: .zero, at: .zero))
        policy.noteDecoding(took: .milliseconds(80), processor: .milliseconds(80))
        let isShown = policy.shows(arrival: start, at: start + .milliseconds(80))
        #expect(isShown)
        #expect(!policy.isLagging)
        // A single late one may follow a standstill.
        #expect(decodes(false, arrival: .milliseconds(33), at: .milliseconds(250)))
        #expect(!decodes(false, arrival: .milliseconds(66), at: .milliseconds(300)))
        #expect(policy.isLagging)
        // The rest of the group is skipped, however early it arrives.
        let rest = policy.leavesOut(isKey: false, at: start + .milliseconds(400))
        let key = policy.leavesOut(isKey: true, at: start + .milliseconds(400))
        #expect(rest && !key)
        #expect(decodes(true, arrival: .milliseconds(500), at: .milliseconds(500)))
        #expect(policy.isLagging)
        #expect(decodes(false, arrival: .milliseconds(2500), at: .milliseconds(2500)))
        #expect(!policy.isLagging)
    }
}
