import Foundation
import Synchronization
import Testing

@testable import InletCapture

/// Schedules of faults, each made of a seed.
@Suite struct FaultSimulationTests {
    /// Set `INLET_SEED` to play one schedule again.
    private static let seeds: Range<UInt64> =
        ProcessInfo.processInfo.environment["INLET_SEED"].flatMap(UInt64.init).map { $0..<$0 + 1 } ?? 0..<10_000

    @Test("The bridge keeps its promises through 10,000 schedules of faults")
    func schedules() {
        let failures = Mutex<[any Error]>([])
        let ends = Mutex<[String: Int]>([:])
        DispatchQueue.concurrentPerform(iterations: Self.seeds.count) { index in
            var simulation = FaultSimulation(seed: Self.seeds.lowerBound + UInt64(index))
            do {
                try simulation.run()
                let end = simulation.machine.state.description
                ends.withLock { $0[end, default: 0] += 1 }
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        let all = failures.withLock { $0 }
        print("schedules: \(Self.seeds.count), broken: \(all.count), ends: \(ends.withLock { $0 })")
        for failure in all.prefix(3) { Issue.record("\(failure)") }
        #expect(all.count == 0)
    }
}
