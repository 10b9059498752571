import InletCore
import Testing

@testable import InletDecode

@Suite struct ReadingPlaceTests {
    /// Makes packets arrive at a distance, each of which occupies the decoding thread for a while.
    ///
    /// - Parameter waiting: the number of packets queued behind each.
    /// - Returns: the number of packets after which the place changed; nil if it did not.
    private func run(
        _ place: inout ReadingPlace, from start: inout MonotonicTime, packets: Int, distance: Duration,
        absence: Duration, waiting: Int = 0
    ) -> Int? {
        let before = place.isApart
        for number in 1...packets {
            place.noteRequest(at: start)
            if place.isApart != before { return number }
            let arrival = start + max(.zero, distance - absence)
            place.notePacket(waiting: waiting, at: arrival)
            start = arrival + absence
        }
        return nil
    }

    @Test(
        "The decoding thread reads as long as that takes less than half of its time",
        arguments: [
            (distance: 33, absence: 1, isApart: false), (33, 8, false), (33, 15, false), (33, 18, true),
            (33, 40, true), (8, 3, false), (8, 5, true), (1000, 15, false), (1000, 30, true),
        ])
    func load(distance: Int, absence: Int, isApart: Bool) {
        var (place, now) = (ReadingPlace(), MonotonicTime(nanoseconds: 0))
        let change = run(
            &place, from: &now, packets: 300, distance: .milliseconds(distance), absence: .milliseconds(absence))
        #expect((change != nil) == isApart)
        if let change { #expect(change < 12) }
    }

    @Test("The decoding thread reads few of the pictures in a burst, and two calm seconds later all pictures")
    func burst() throws {
        var (place, now) = (ReadingPlace(), MonotonicTime(nanoseconds: 0))
        #expect(run(&place, from: &now, packets: 100, distance: .milliseconds(33), absence: .milliseconds(2)) == nil)
        let change = run(&place, from: &now, packets: 60, distance: .milliseconds(2), absence: .milliseconds(2))
        #expect(try #require(change) <= 12)
        let back = run(&place, from: &now, packets: 200, distance: .milliseconds(33), absence: .milliseconds(2))
        #expect(try 60...80 ~= #require(back))
    }

    @Test("A stream that is slow again soon after the return waits longer, but not for ever")
    func relapse() throws {
        var (place, now) = (ReadingPlace(), MonotonicTime(nanoseconds: 0))
        var calm: [Int] = []
        for _ in 0..<7 {
            #expect(run(&place, from: &now, packets: 9, distance: .milliseconds(33), absence: .milliseconds(30)) != nil)
            let start = now
            let back = run(&place, from: &now, packets: 3000, distance: .milliseconds(33), absence: .milliseconds(2))
            _ = try #require(back)
            calm.append(Int((now - start) / .seconds(1)))
        }
        #expect(calm == [2, 4, 8, 16, 32, 64, 64])
        // A minute without delays.
        #expect(run(&place, from: &now, packets: 2000, distance: .milliseconds(33), absence: .milliseconds(2)) == nil)
        #expect(run(&place, from: &now, packets: 9, distance: .milliseconds(33), absence: .milliseconds(30)) != nil)
        let back = run(&place, from: &now, packets: 200, distance: .milliseconds(33), absence: .milliseconds(2))
        #expect(try 60...80 ~= #require(back))
    }

    @Test("A caller that may block reads separately from its first packet on, and a pause is not an absence")
    func blocks() {
        var (place, now) = (ReadingPlace(), MonotonicTime(nanoseconds: 0))
        place.noteRequest(at: now, mayBlock: true)
        #expect(place.isApart)
        place = ReadingPlace()
        #expect(run(&place, from: &now, packets: 9, distance: .milliseconds(33), absence: .milliseconds(2)) == nil)
        now = now + .seconds(9)
        place.noteResume()
        #expect(run(&place, from: &now, packets: 9, distance: .milliseconds(33), absence: .milliseconds(2)) == nil)
    }

    @Test("Queued packets, and a stream near the limit, do not change their thread")
    func noReturn() {
        for (absence, waiting) in [(2, 1), (10, 0), (12, 0)] {
            var (place, now) = (ReadingPlace(), MonotonicTime(nanoseconds: 0))
            #expect(run(&place, from: &now, packets: 9, distance: .milliseconds(33), absence: .milliseconds(30)) != nil)
            let change = run(
                &place, from: &now, packets: 900, distance: .milliseconds(33), absence: .milliseconds(absence),
                waiting: waiting)
            #expect(change == nil)
        }
    }
}
