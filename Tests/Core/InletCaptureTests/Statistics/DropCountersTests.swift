import InletCore
import Testing

@testable import InletCapture

@Suite struct DropCountersTests {
    @Test("Every reason is counted under its own name, known or not")
    func reasons() {
        let counters = DropCounters()
        counters.count(.superseded)
        counters.count(DropReason("superseded"), 2)
        counters.count(DropReason("cosmicRay"), 4)
        counters.count(.queueFull, 0)
        #expect(counters.snapshot == [.superseded: 3, DropReason("cosmicRay"): 4])
    }

    @Test("Drops counted from several threads at once are all included")
    func concurrent() async {
        let counters = DropCounters()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counters.count(.superseded)
                        counters.count(DropReason("cosmicRay"))
                    }
                }
            }
        }
        #expect(counters.snapshot == [.superseded: 40_000, DropReason("cosmicRay"): 40_000])
    }
}
