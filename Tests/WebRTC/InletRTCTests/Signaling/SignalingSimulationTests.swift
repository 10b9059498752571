import InletCore
import Testing

@testable import InletRTC

/// Two sides that come and go in any order over bad signaling finally agree on one session.
@Suite struct SignalingSimulationTests {
    @Test(
        "Whichever is first, and whatever is lost, duplicated or late for 20 seconds, both agree on a session",
        arguments: [true, false])
    func anyOrder(_ hasPresence: Bool) throws {
        for seed in 0..<500 {
            var simulation = try Self.simulation(seed, hasPresence: hasPresence)
            for side in 0..<2 { simulation.start(side, after: simulation.randomDuration(upTo: .seconds(3))) }
            Self.settle(&simulation)
            #expect(simulation.isAgreed, "seed \(seed): \(simulation.description)")
            #expect(simulation.faults.isEmpty, "seed \(seed): \(simulation.faults)")
        }
    }

    @Test(
        "A side that is killed at any moment and returns as another instance agrees on a new session",
        arguments: [true, false])
    func killed(_ hasPresence: Bool) throws {
        var resets = 0
        for seed in 0..<500 {
            var simulation = try Self.simulation(seed, hasPresence: hasPresence)
            for side in 0..<2 { simulation.start(side, after: simulation.randomDuration(upTo: .seconds(1))) }
            for _ in 0..<(1 + seed % 3) {
                let side = seed % 2
                let when = simulation.randomDuration(upTo: .seconds(15))
                simulation.kill(side, after: when)
                simulation.start(side, after: when + simulation.randomDuration(upTo: .seconds(5)))
            }
            // The last start of each side is here at the latest.
            for side in 0..<2 { simulation.start(side, after: .seconds(21)) }
            Self.settle(&simulation)
            #expect(simulation.isAgreed, "seed \(seed): \(simulation.description)")
            #expect(simulation.faults.isEmpty, "seed \(seed): \(simulation.faults)")
            resets += simulation.resets
        }
        #expect(resets >= 100, "\(resets) resets")
    }

    private static func simulation(_ seed: Int, hasPresence: Bool) throws -> SignalingSimulation {
        var random = SplitMix64(seed: UInt64(seed) &* 977)
        let trouble = SignalingSimulation.Trouble(
            loss: random.fraction() * 0.5, doubling: random.fraction() * 0.5,
            latest: .milliseconds(Int(random.fraction() * 3000)), until: MonotonicTime(nanoseconds: 20_000_000_000))
        return try SignalingSimulation(seed: UInt64(seed), hasPresence: hasPresence, trouble)
    }

    /// Runs until both sides agree after everything is reliable. If media does not flow, the host offers again.
    private static func settle(_ simulation: inout SignalingSimulation) {
        simulation.run(until: MonotonicTime(nanoseconds: 25_000_000_000)) { _ in false }
        for round in 1...12 where !simulation.isAgreed {
            simulation.restart()
            simulation.run(until: MonotonicTime(nanoseconds: 25_000_000_000 + Int64(round) * 10_000_000_000)) {
                $0.isAgreed
            }
        }
    }
}
