import InletCore
import Testing

@testable import RTSPSource

/// The conditions under which a stream leaves UDP because of lost packets.
@Suite struct LossWatchTests {
    /// Returns the number of pictures, at 30 a second, after which the watch gives up; nil if it does not within ten
    /// minutes.
    ///
    /// - Parameters:
    ///   - group: the number of pictures from key frame to key frame.
    ///   - first: the number of the first key frame.
    ///   - isLost: whether a part of a picture is lost, by its number.
    private func pictures(group: Int, first: Int = 0, isLost: (Int) -> Bool) -> Int? {
        var watch = LossWatch()
        for number in 0..<18_000 {
            let isKey = number >= first && (number - first) % group == 0
            let time = MonotonicTime(nanoseconds: Int64(number) * 1_000_000_000 / 30)
            if watch.note(isLost(number) ? .lossy : isKey ? .whole : .dependent, at: time) { return number }
        }
        return nil
    }

    @Test("Losses that damage most pictures are noticed within five seconds of the first", arguments: [2, 5, 20])
    func steady(every pictures: Int) throws {
        for group in [30, 60, 300] {
            let found = try #require(self.pictures(group: group) { $0 >= 300 && $0 % pictures == 7 % pictures })
            #expect((345...450).contains(found), "groups of \(group): \(found)")
        }
    }

    @Test("With independent pictures, each loss damages one; UDP is given up if two in three are damaged")
    func intra() throws {
        let found = try #require(pictures(group: 1) { $0 >= 300 && $0 % 3 != 0 })
        #expect((345...430).contains(found))
        #expect(pictures(group: 1) { $0 % 10 == 0 } == nil)
    }

    @Test("Rare losses change nothing, and neither does a single one before a key frame that is far away")
    func rare() {
        #expect(pictures(group: 60) { $0 % 900 == 30 } == nil, "one second in thirty")
        #expect(pictures(group: 60) { $0 % 360 == 30 } == nil, "one second in twelve")
        #expect(pictures(group: 3000) { $0 == 300 } == nil)
        #expect(pictures(group: 60) { _ in false } == nil)
    }

    @Test("A random loss of 1 % is noticed within five seconds of the first, in three of four streams")
    func random() {
        var delays: [Int] = []
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var lost: Int?
            let found = pictures(group: 60) { number in
                // Key frames take more packets than other pictures.
                let isLost = (0..<(number % 60 == 0 ? 14 : 2)).contains { _ in
                    number >= 60 && Int.random(in: 0..<100, using: &random) == 0
                }
                if isLost, lost == nil { lost = number }
                return isLost
            }
            if let found, let lost { delays.append(found - lost) }
        }
        #expect(delays.count == 200)
        #expect(delays.count { $0 <= 150 } >= 150)
    }

    @Test("UDP is given up if key frames lose packets, too")
    func keyFrames() throws {
        let found = try #require(pictures(group: 60) { $0 >= 300 && $0 % 60 == 0 })
        #expect((374...430).contains(found))
    }

    @Test("A stream without key frames leaves UDP at its second loss")
    func withoutKeyFrames() {
        #expect(pictures(group: .max, first: .max) { $0 == 300 || $0 == 600 } == 600)
    }

    @Test("A stream that is joined between two key frames has lost nothing before the first")
    func join() {
        #expect(pictures(group: 300, first: 140) { $0 == 0 || $0 == 150 } == nil)
    }

    @Test("A stream is calm after a minute of complete pictures, and no longer after a loss")
    func calm() {
        var watch = LossWatch()
        func note(_ second: Int, _ picture: LossWatch.Picture) {
            _ = watch.note(picture, at: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000))
        }
        for second in 0...59 { note(second, .whole) }
        #expect(!watch.isCalm)
        note(60, .whole)
        #expect(watch.isCalm)
        note(61, .lossy)
        #expect(!watch.isCalm)
        for second in 62...121 { note(second, .whole) }
        #expect(!watch.isCalm)
        note(122, .whole)
        #expect(watch.isCalm)
    }

    @Test("Silence is not a loss")
    func silence() {
        var watch = LossWatch()
        var time = MonotonicTime(nanoseconds: 0)
        for number in 0..<100 {
            time = time + .seconds(10)
            // After each silence one picture is damaged until the next one.
            let isTooMuch = watch.note(number % 7 == 1 ? .lossy : .whole, at: time)
            #expect(!isTooMuch)
        }
    }
}
