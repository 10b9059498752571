import InletCore
import Testing

@testable import InletRTC

/// Two peers over bad signaling end up connected, or in an end with a reason.
@Suite struct PeerPairTests {
    static func policies(bothOffer: Bool, attempts: Int = 8) -> [PeerSessionPolicy] {
        var first = PeerSessionPolicy(role: .offering, name: "first")
        var second = PeerSessionPolicy(role: bothOffer ? .offering : .answering, name: "second")
        for index in 0..<2 {
            if index == 0 { (first.trickles, first.attempts) = (true, attempts) }
            if index == 1 { (second.trickles, second.attempts, second.yields) = (true, attempts, true) }
        }
        return [first, second]
    }

    static func simulation(seed: UInt64, bothOffer: Bool, attempts: Int = 8) -> PeerPairSimulation {
        var random = SplitMix64(seed: seed &* 977)
        let trouble = PeerPairSimulation.Trouble(
            loss: random.fraction() * 0.5, doubling: random.fraction() * 0.5,
            latest: .milliseconds(Int(random.fraction() * 3000)), until: MonotonicTime(nanoseconds: 20_000_000_000))
        return PeerPairSimulation(seed: seed, policies(bothOffer: bothOffer, attempts: attempts), trouble)
    }

    @Test(
        "Whichever is first, and whatever signaling does for 20 seconds, two peers connect",
        arguments: [false, true])
    func connects(_ bothOffer: Bool) {
        for seed in 0..<500 {
            var simulation = Self.simulation(seed: UInt64(seed), bothOffer: bothOffer)
            for side in 0..<2 { simulation.start(side, after: simulation.randomDuration(upTo: .seconds(3))) }
            simulation.run(until: MonotonicTime(nanoseconds: 180_000_000_000)) { $0.bothConnected }
            #expect(simulation.bothConnected, "seed \(seed): \(simulation.machines.map(\.state))")
            #expect(simulation.openEngines == [1, 1], "seed \(seed)")
        }
    }

    @Test(
        "A peer that is killed at any moment and returns is connected again, or both have ended with a reason",
        arguments: [false, true])
    func killed(_ bothOffer: Bool) {
        var connected = 0
        for seed in 0..<500 {
            var simulation = Self.simulation(seed: UInt64(seed), bothOffer: bothOffer)
            for side in 0..<2 { simulation.start(side, after: simulation.randomDuration(upTo: .seconds(1))) }
            let back = simulation.randomDuration(upTo: .seconds(30))
            simulation.kill(seed % 2, after: simulation.randomDuration(upTo: .seconds(15)), reviveAfter: back)
            simulation.run(until: MonotonicTime(nanoseconds: 60_000_000_000)) { _ in false }
            simulation.run(until: MonotonicTime(nanoseconds: 600_000_000_000)) { $0.bothConnected }
            let states = simulation.machines.map(\.state)
            let isOver = states.allSatisfy { if case .ended = $0 { true } else { $0 == .new } }
            #expect(simulation.bothConnected || isOver, "seed \(seed): \(states)")
            connected += simulation.bothConnected ? 1 : 0
        }
        #expect(connected >= 450, "\(connected) of 500")
    }

    @Test("A peer that is killed for good ends the other with a reason and without an engine")
    func gone() {
        for seed in 0..<200 {
            var simulation = Self.simulation(seed: UInt64(seed), bothOffer: seed % 2 == 0, attempts: 3)
            for side in 0..<2 { simulation.start(side, after: .zero) }
            simulation.kill(1, after: simulation.randomDuration(upTo: .seconds(15)), reviveAfter: nil)
            simulation.run(until: MonotonicTime(nanoseconds: 300_000_000_000)) { _ in false }
            guard case .ended(let end) = simulation.machines[0].state else {
                Issue.record("seed \(seed): \(simulation.machines[0].state)")
                continue
            }
            #expect(end == .remote || end.error?.code == .timedOut, "seed \(seed): \(end)")
            #expect(simulation.openEngines[0] == 0, "seed \(seed)")
        }
    }

    @Test(
        "Both sides change their settings at any time, over bad signaling: in the end each knows the other's",
        arguments: [false, true])
    func changes(_ bothOffer: Bool) {
        var revisions = 0
        for seed in 0..<500 {
            var simulation = Self.simulation(seed: UInt64(seed), bothOffer: bothOffer)
            for side in 0..<2 { simulation.start(side, after: simulation.randomDuration(upTo: .seconds(3))) }
            for _ in 0..<6 {
                let time = simulation.randomDuration(upTo: .seconds(30))
                simulation.change(seed % 2, after: time)
                // At the same time, or at another time.
                let other = simulation.randomDuration(upTo: .seconds(30))
                simulation.change(1 - seed % 2, after: seed % 3 == 0 ? time : other)
            }
            simulation.run(until: MonotonicTime(nanoseconds: 180_000_000_000)) {
                $0.now > MonotonicTime(nanoseconds: 31_000_000_000) && $0.bothConnected && $0.bothAgree
            }
            #expect(
                simulation.bothConnected && simulation.bothAgree, "seed \(seed): \(simulation.machines.map(\.state))")
            #expect(simulation.openEngines == [1, 1], "seed \(seed)")
            revisions += simulation.revisions
        }
        #expect(revisions > 2000, "\(revisions)")
    }
}
