import InletCore
import Testing

@testable import InletDecode

@Suite struct ReadingPlaceTests {
    /// Has packets arrive at a distance, each of which keeps the decoding thread away for a while.
    ///
    /// - Parameter waiting: how many packets are queued behind each.
    /// - Returns: after how many packets the place changed; nil if it did not.
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
        "The thread that decodes reads as long as that takes less than half of its time",
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

    @Test("Of pictures that come at once few are read beside decoding, and two calm seconds later all are")
    func burst() throws {
        var (place, now) = (ReadingPlace(), MonotonicTime(nanoseconds: 0))
        #expect(run(&place, from: &now, packets: 100, distance: .milliseconds(33), absence: .milliseconds(2)) == nil)
        let change = run(&place, from: &now, packets: 60, distance: .milliseconds(2), absence: .milliseconds(2))
        #expect(try #require(change) <= 12)
        let back = run(&place, from: &now, packets: 200, distance: .milliseconds(33), absence: .milliseconds(2))
        #expect(try 60...80 ~= #require(back))
    }

    @Test("Who was slow again soon after the return waits longer, and then not for ever")
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
        // A minute without trouble.
        #expect(run(&place, from: &now, packets: 2000, distance: .milliseconds(33), absence: .milliseconds(2)) == nil)
        #expect(run(&place, from: &now, packets: 9, distance: .milliseconds(33), absence: .milliseconds(30)) != nil)
        let back = run(&place, from: &now, packets: 200, distance: .milliseconds(33), absence: .milliseconds(2))
        #expect(try 60...80 ~= #require(back))
    }

    @Test("A caller that may block reads apart from its first packet on, and a pause is no absence")
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

    @Test("What is queued, and a stream near the limit, stay where they are")
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
