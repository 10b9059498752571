import InletCore
import Testing

@testable import InletDecode

@Suite struct PacketSelectionTests {
    private typealias Fate = PacketSelection.Fate

    /// The fates of packets at 30 a second, with a key frame every `distance` packets.
    private func fates(
        _ selection: inout PacketSelection, from start: Int = 0, _ count: Int, every distance: Int, wanted: Rational?
    )
        -> [Fate]
    {
        (start..<start + count).map { index in
            selection.fate(isKey: index.isMultiple(of: distance), time: Int64(index), wanted: wanted)
        }
    }

    @Test(
        "Without a demand, or with one that key frames do not meet, every packet is decoded",
        arguments: [nil, 30, 2] as [Int?])
    func all(_ wanted: Int?) {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        let fates = fates(&selection, 120, every: 30, wanted: wanted.map { Rational($0) })
        #expect(fates.allSatisfy { $0 == .decode })
    }

    @Test("Once two key frames have shown how far apart they are, only they are decoded")
    func keyFrames() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        let fates = fates(&selection, 150, every: 30, wanted: Rational(1))
        #expect(fates[0...30].allSatisfy { $0 == .decode })
        #expect(fates[31] == .passAndDrain)
        #expect(fates[32..<60].allSatisfy { $0 == .pass })
        for key in [60, 90, 120] { #expect(fates[key] == .decodeAlone) }
        #expect(fates.count { $0 == .decodeAlone } == 3)
    }

    @Test("If key frames become rarer, the packets since the last one are decoded when the next is overdue")
    func rarerKeyFrames() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        _ = fates(&selection, 150, every: 30, wanted: Rational(1))
        // A key frame at 150, and the next at 510.
        let later = (150..<520).map { index in
            selection.fate(isKey: index == 150 || index == 510, time: Int64(index), wanted: Rational(1))
        }
        #expect(later[0] == .decodeAlone)
        #expect(later[1...33].allSatisfy { $0 == .pass })
        #expect(later[34] == .catchUp)
        #expect(later[35...].allSatisfy { $0 == .decode })
    }

    @Test("A key frame is overdue, unless only key frames are wanted", arguments: [false, true])
    func overdue(keyFramesOnly: Bool) {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        // Key frames become rarer, from one in each second to one in ten.
        let fates = (0..<600).map { index in
            selection.fate(
                isKey: index < 150 ? index.isMultiple(of: 30) : index.isMultiple(of: 300), time: Int64(index),
                wanted: Rational(1), keyFramesOnly: keyFramesOnly)
        }
        #expect(fates.contains(.catchUp) != keyFramesOnly)
    }

    @Test("If key frames are more frequent than wanted frames, as many are decoded as are wanted")
    func fewerThanKeyFrames() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        let fates = fates(&selection, 600, every: 5, wanted: Rational(1))
        let alone = fates.indices.filter { fates[$0] == .decodeAlone }
        #expect(zip(alone, alone.dropFirst()).allSatisfy { $1 - $0 == 30 })
        #expect(alone.count >= 18)
    }

    @Test(
        "In a stream of only key frames, such as Motion JPEG, as many are decoded as are wanted", arguments: [1, 2, 10])
    func keyFramesAlone(_ wanted: Int) {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        let fates = fates(&selection, 300, every: 1, wanted: Rational(wanted))
        #expect(fates[0...2] == [.decode, .decode, .passAndDrain])
        let alone = fates.indices.filter { fates[$0] == .decodeAlone }
        #expect(alone == Array(stride(from: 1 + 30 / wanted, to: 300, by: 30 / wanted)))
        #expect(fates[3...].allSatisfy { $0 == .decodeAlone || $0 == .pass })
    }

    @Test("A stream of only key frames as frequent as wanted frames is decoded completely")
    func keyFramesAsWanted() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        #expect(fates(&selection, 90, every: 1, wanted: Rational(30)).allSatisfy { $0 == .decode })
    }

    @Test("When more is wanted again, decoding continues from a key frame")
    func more() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        _ = fates(&selection, 100, every: 30, wanted: Rational(1))
        let fates = fates(&selection, from: 100, 60, every: 30, wanted: nil)
        #expect(fates[0..<20].allSatisfy { $0 == .pass })
        #expect(fates[20] == .decodeAnew)
        #expect(fates[21...].allSatisfy { $0 == .decode })
    }

    @Test("If it is unknown what was skipped, key frames that become rarer end the stretch at the first late one")
    func irregular() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        _ = fates(&selection, 100, every: 30, wanted: Rational(1))
        let fates = (100..<300).map { index in
            selection.fate(
                isKey: index.isMultiple(of: 90), time: Int64(index), wanted: Rational(1), canCatchUp: false)
        }
        let first = fates.firstIndex(of: .decodeAnew)
        #expect(first == 80)
        #expect(fates.dropFirst(81).allSatisfy { $0 == .decode })
    }

    @Test("A step back in time costs no wanted picture")
    func stepBack() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        _ = fates(&selection, from: 9000, 600, every: 30, wanted: Rational(1, 4))
        let fates = fates(&selection, 600, every: 30, wanted: Rational(1, 4))
        let alone = fates.indices.filter { fates[$0] == .decodeAlone }
        #expect(alone == [0, 120, 240, 360, 480])
    }

    @Test("Packets without times are decoded, and damaged times do no harm")
    func oddTimes() {
        var selection = PacketSelection(timeBase: Rational(1, 30))
        for time in [nil, .max, .min, 0, nil, .max, -1, .min] as [Int64?] {
            for isKey in [true, false] { _ = selection.fate(isKey: isKey, time: time, wanted: Rational(1)) }
        }
        var untimed = PacketSelection(timeBase: Rational(1, 30))
        #expect(
            (0..<60).allSatisfy {
                untimed.fate(isKey: $0.isMultiple(of: 10), time: nil, wanted: Rational(1)) == .decode
            })
    }
}
