import InletCore
import InletRTC
import Testing

@Suite struct ClientQuotaTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("One client has a limited number of sessions, and leaves the rest to others")
    func perClient() {
        var quota = ClientQuota<String>(all: 5, perClient: 3)
        func isAdmitted(_ client: String, at milliseconds: Int64 = 5000) -> Bool {
            quota.admit(client, at: Self.time(milliseconds))
        }
        func occupancy(_ client: String) -> QuotaOccupancy { quota.occupancy(for: client, at: Self.time(5000)) }
        for _ in 0..<3 { #expect(isAdmitted("a", at: 0)) }
        #expect(!isAdmitted("a"))
        #expect(occupancy("a") == QuotaOccupancy(all: 3, own: 3))
        #expect(occupancy("b") == QuotaOccupancy(all: 3))
        for _ in 0..<2 { #expect(isAdmitted("b")) }
        #expect(!isAdmitted("c"))
        quota.leave("a")
        quota.leave("nobody")
        #expect(isAdmitted("c"))
        #expect(occupancy("a") == QuotaOccupancy(all: 5, own: 2))
    }

    @Test("A client that opens and closes sessions endlessly is slowed down, and others are not")
    func rate() {
        var quota = ClientQuota<String>(all: 100, perClient: 10)
        var opened = 0
        // First ten at once, then 25 a second for two seconds.
        for millisecond in 0..<2000 {
            while quota.admit("a", at: Self.time(Int64(millisecond))) {
                quota.leave("a")
                opened += 1
            }
        }
        #expect((58...61).contains(opened))
        let (own, other) = (
            quota.occupancy(for: "a", at: Self.time(1999)), quota.occupancy(for: "b", at: Self.time(1999))
        )
        #expect(own.wait != nil)
        #expect(other.wait == nil)
    }
}
