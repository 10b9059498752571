import InletCore
import Testing

@testable import InletRTC

/// Calls over bad signaling: every side ends up in a call, or in an end that both sides report in the same way.
@Suite struct CallSimulationTests {
    private static let quietTime = MonotonicTime(nanoseconds: 60_000_000_000)
    private static let end = MonotonicTime(nanoseconds: 400_000_000_000)

    private static func policy(_ seed: UInt64) -> CallPolicy {
        var policy = CallPolicy()
        // Long enough for many repetitions of a lost message.
        (policy.ending, policy.reaching) = (.seconds(40), .seconds(25))
        if seed.isMultiple(of: 3) { policy.secondCall = .waiting(2) }
        return policy
    }

    private static func trouble(_ seed: UInt64) -> CallSimulation.Trouble {
        var random = SplitMix64(seed: seed &* 977)
        return CallSimulation.Trouble(
            loss: random.fraction() * 0.4, doubling: random.fraction() * 0.5,
            latest: .milliseconds(Int(random.fraction() * 3000)), until: quietTime)
    }

    /// Checks that each call known to both sides has ended for both in the same way.
    private func expectOneStory(_ simulation: CallSimulation, _ seed: UInt64) {
        for side in simulation.peers.indices {
            #expect(simulation.machines[side].running.isEmpty, "seed \(seed): a call runs for ever")
            #expect(simulation.media[side].isEmpty, "seed \(seed): media is open")
            for (call, states) in simulation.told[side] {
                guard case .ended(let end)? = states.last else {
                    #expect(simulation.joined[side][call] != nil, "seed \(seed): \(states)")
                    continue
                }
                #expect(states.count(where: { if case .ended = $0 { true } else { false } }) == 1, "\(states)")
                for other in simulation.peers.indices where other != side {
                    guard let theirs = simulation.ends(other)[call] else { continue }
                    #expect(end == theirs, "seed \(seed): \(states) and \(simulation.told[other][call] ?? [])")
                }
            }
        }
        #expect(simulation.mostMedia <= 1, "seed \(seed): media of two calls at once")
    }

    @Test("Whatever people and signaling do, both sides of each call get the same end", arguments: [2, 3])
    func oneStory(_ parties: Int) throws {
        var reasons: [String: Int] = [:]
        for seed in 0..<UInt64(600) {
            var simulation = try CallSimulation(
                seed: seed, parties: parties, Self.policy(seed), Self.trouble(seed))
            for _ in 0..<(3 + simulation.randomNumber(below: 6)) {
                let side = simulation.randomNumber(below: parties)
                let peer = (side + 1 + simulation.randomNumber(below: parties - 1)) % parties
                simulation.place(side, peer, after: simulation.randomDuration(upTo: .seconds(100)))
                let either = simulation.randomNumber(below: parties)
                simulation.hangUp(either, after: simulation.randomDuration(upTo: .seconds(140)))
            }
            for side in 0..<parties { simulation.hangUp(side, after: .seconds(200)) }
            for side in 0..<parties { simulation.hangUp(side, after: .seconds(260)) }
            for side in 0..<parties { simulation.hangUp(side, after: .seconds(320)) }
            simulation.run(until: Self.end)
            expectOneStory(simulation, seed)
            #expect(simulation.messages < 3000, "seed \(seed)")
            for end in simulation.ends(0).values { reasons[end.reason.key, default: 0] += 1 }
        }
        for key in ["declined", "missed", "busy", "cancelled", "hungUp"] {
            #expect(reasons[key, default: 0] > 10, "\(reasons)")
        }
    }

    @Test("Two peers that call each other at once are in one call, whatever signaling does")
    func crossing() throws {
        for seed in 0..<UInt64(500) {
            var simulation = try CallSimulation(seed: seed, parties: 2, Self.policy(1), Self.trouble(seed))
            simulation.habit = .answers
            simulation.thinking = .seconds(3)
            simulation.place(0, 1, after: simulation.randomDuration(upTo: .seconds(1)))
            simulation.place(1, 0, after: simulation.randomDuration(upTo: .seconds(1)))
            simulation.run(until: MonotonicTime(nanoseconds: 30_000_000_000))
            let calls = simulation.machines.map(\.running)
            #expect(calls[0].count == 1 && calls[0] == calls[1], "seed \(seed): \(simulation.told)")
            for side in 0..<2 {
                for call in calls[side] {
                    #expect(simulation.machines[side].state(of: call) == .connected, "seed \(seed)")
                }
            }
        }
    }

    @Test("A side that is killed at any moment, and is back or not, leaves no call behind on the others")
    func killed() throws {
        for seed in 0..<UInt64(600) {
            let parties = seed.isMultiple(of: 2) ? 2 : 3
            var simulation = try CallSimulation(
                seed: seed, parties: parties, Self.policy(seed), Self.trouble(seed))
            simulation.habit = .answers
            for _ in 0..<4 {
                let side = simulation.randomNumber(below: parties)
                let peer = (side + 1 + simulation.randomNumber(below: parties - 1)) % parties
                simulation.place(side, peer, after: simulation.randomDuration(upTo: .seconds(30)))
            }
            let isBack = simulation.randomNumber(below: 2) == 0
            let back = simulation.randomDuration(upTo: .seconds(10))
            simulation.kill(0, after: simulation.randomDuration(upTo: .seconds(40)), reviveAfter: isBack ? back : nil)
            for side in 1..<parties { simulation.hangUp(side, after: .seconds(150)) }
            for side in 1..<parties { simulation.hangUp(side, after: .seconds(200)) }
            simulation.run(until: Self.end)
            for side in 1..<parties {
                #expect(simulation.machines[side].running.isEmpty, "seed \(seed): \(simulation.told[side])")
                #expect(simulation.media[side].isEmpty, "seed \(seed)")
            }
        }
    }

    @Test("A finished call sends nothing any more")
    func silent() throws {
        for seed in 0..<UInt64(100) {
            var simulation = try CallSimulation(seed: seed, parties: 2, Self.policy(1), Self.trouble(seed))
            simulation.place(0, 1, after: .zero)
            for side in 0..<2 { simulation.hangUp(side, after: .seconds(100)) }
            simulation.run(until: Self.end)
            #expect(simulation.machines.allSatisfy { $0.deadline == nil }, "seed \(seed): a timer runs for ever")
        }
    }
}
