import Foundation
import Synchronization
import Testing

@testable import InletCapture

/// Fault schedules, each generated from a seed.
@Suite struct FaultSimulationTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// The schedule with the seed `INLET_SEED`, otherwise `INLET_SCHEDULES` schedules, 2,000 by default.
    private static let seeds: Range<UInt64> =
        number("INLET_SEED").map { $0..<$0 + 1 } ?? 0..<(number("INLET_SCHEDULES") ?? 2_000)

    @Test("The bridge keeps its guarantees through thousands of fault schedules")
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
