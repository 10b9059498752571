import InletCore
import InletRTP
import Testing

/// Losses, repetitions and breaks of transport streams.
@Suite struct TransportStreamLossTests {
    /// Expects that no picture is wrong, and that pictures that need a lost one are marked.
    private func expectRight(
        _ units: [AccessUnit], _ writer: TransportWriter, _ clip: CodedClip, _ comment: String
    ) {
        let expected = TransportStreamTests.expected(writer, clip).map { Self.slices($0, clip) }
        var next = 0
        for unit in units {
            let index = TransportStreamTests.index(of: unit, writer)
            #expect(Self.slices(unit.bytes, clip) == expected[index], "\(comment), picture \(index)")
            // Before the first unit nothing is known to be missing, and decoding begins at a key picture.
            if !unit.isKey, next > 0 {
                let needed = (next..<index).contains { isReference(clip, $0) }
                // With H.265, the reference picture sets show which pictures are complete; the rest is dropped, not
                // marked.
                #expect(!needed || unit.isAfterLoss || clip.isHEVC, "\(comment), picture \(index)")
            }
            next = index + 1
        }
    }

    /// The slices of a unit. Parameter sets that were lost with one picture may precede the next.
    private static func slices(_ bytes: [UInt8], _ clip: CodedClip) -> [[UInt8]] {
        CodedClip.units(bytes).filter(clip.isSlice)
    }

    private func isReference(_ clip: CodedClip, _ picture: Int) -> Bool {
        clip.isHEVC || clip.pictures[picture].contains { $0[0] & 0x60 != 0 }
    }

    @Test(
        "Each lost payload costs only its pictures, and those that may refer to them are marked",
        arguments: TransportStreamTests.clips.indices, [1, 3, 7, 20])
    func eachPayload(_ clip: Int, _ count: Int) {
        let clip = TransportStreamTests.clips[clip]
        for size in [TransportWriter.Size.none, .right] {
            let writer = TransportStreamTests.stream(clip) { $0.size = size }
            // The tables are in a separate payload.
            let tables = TestPacket(payload: Array(writer.packets[..<2].joined()), timestamp: 0)
            let packets = [tables] + Self.payloads(writer, from: 2, count)
            for lost in 1..<packets.count {
                let joiner = Depacketizer(.transportStream)
                let units = NALLossTests.receive(packets, without: [lost], joiner)
                expectRight(units, writer, clip, "payload \(lost)")
                let first = 2 + (lost - 1) * count
                let touched = Set(writer.pictures[first..<min(first + count, writer.pictures.count)].compactMap(\.self))
                let indices = Set(units.map { TransportStreamTests.index(of: $0, writer) })
                let missing = Set(clip.pictures.indices).subtracting(indices)
                // With the last picture, nothing may be left to show that it is complete.
                let last = clip.pictures.count - 1
                // The first packet may have held the end of the picture before; that cannot be determined.
                let before = (touched.min() ?? 0) - 1
                var allowed = touched.union([last, before])
                // The pictures that refer to a lost picture of H.265, at most the rest of its group.
                if clip.isHEVC {
                    allowed.formUnion(max(0, before)..<(Self.nextGroup(behind: touched.max() ?? 0, clip)))
                }
                #expect(missing.isSubset(of: allowed), "payload \(lost): \(missing) \(touched)")
            }
        }
    }

    /// The number of the first H.265 picture after the next one at which decoding can start (types 16 to 23) and after
    /// those that precede that one when shown, and refer to earlier ones (types 8 and 9).
    private static func nextGroup(behind picture: Int, _ clip: CodedClip) -> Int {
        func has(_ index: Int, _ types: ClosedRange<UInt8>) -> Bool {
            clip.pictures[index].contains { types.contains($0[0] >> 1 & 0x3F) }
        }
        let indices = clip.pictures.indices
        guard let key = indices.first(where: { $0 > picture && has($0, 16...23) }) else { return indices.endIndex }
        return indices.first { $0 > key && !has($0, 8...9) } ?? indices.endIndex
    }

    private static func payloads(_ writer: TransportWriter, from start: Int, _ count: Int) -> [TestPacket] {
        stride(from: start, to: writer.packets.count, by: count).map {
            TestPacket(
                payload: Array(writer.packets[$0..<min($0 + count, writer.packets.count)].joined()), timestamp: 0)
        }
    }

    @Test("With random losses no picture is wrong", arguments: 0..<40)
    func randomLosses(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var clip = TransportStreamTests.clips[Int(seed % 2)]
        clip.pictures += clip.pictures
        let writer = TransportStreamTests.stream(clip) {
            $0.size = seed % 4 < 2 ? .none : .right
            $0.hasPESPerSlice = seed % 8 == 7
            $0.stuffing = seed % 5 == 0 ? 4 : 0
        }
        let packets = writer.payloads([1, 2, 7][Int(seed % 3)])
        let share = [0.01, 0.05, 0.2][Int(seed / 3 % 3)]
        let lost = Set(packets.indices.dropFirst(2).filter { _ in random.fraction() < share })
        let joiner = Depacketizer(.transportStream)
        let units = NALLossTests.receive(packets, without: lost, joiner, isBuffered: seed % 2 == 0)
        expectRight(units, writer, clip, "seed \(seed)")
        #expect(!units.isEmpty)
    }

    @Test("A lost packet of another stream costs nothing")
    func others() {
        let clip = CodedClip.h264
        var writer = TransportStreamTests.writer()
        writer.appendTables()
        for index in clip.pictures.indices {
            writer.append(CodedClip(pictures: [clip.pictures[index]]), from: index)
            // The maximum of two payloads of seven packets cannot be sixteen of the video.
            writer.appendOthers(2)
        }
        let packets = writer.payloads(1)
        let lost = Set(packets.indices.dropFirst(2).filter { writer.pictures[$0] == nil })
        let units = NALLossTests.receive(packets, without: lost, Depacketizer(.transportStream))
        #expect(units.map(\.bytes) == TransportStreamTests.expected(writer, clip))
        #expect(!units.contains { $0.isAfterLoss })
    }

    @Test("A loss of sixteen packets, which the counter does not show, counts as one")
    func wrap() {
        var clip = CodedClip.h264
        clip.pictures += clip.pictures
        let writer = TransportStreamTests.stream(clip)
        let packets = writer.payloads(1)
        for first in [20, 31, 47] {
            let joiner = Depacketizer(.transportStream)
            let units = NALLossTests.receive(packets, without: Set(first..<first + 16), joiner)
            expectRight(units, writer, clip, "packet \(first)")
            #expect(units.count < clip.pictures.count)
        }
    }

    @Test("A duplicate packet counts once; one with an old counter and other bytes is a loss")
    func repetition() {
        let clip = CodedClip.h264
        var source = TransportStreamTests.stream()
        let count = source.packets.count
        var order: [Int] = []
        for index in 0..<count { order += [index, index] }
        for index in 0..<count { source.appendAgain(index) }
        let packets = order.map { TestPacket(payload: source.packets[$0], timestamp: 0) }
        let joiner = Depacketizer(.transportStream)
        #expect(joiner.receiveAll(packets).map(\.bytes) == TransportStreamTests.expected(source, clip))
        #expect(joiner.statistics.repeatedTransportPackets == count - 2)
        // Fifteen packets are missing, and no number shows it.
        let cut = (0..<count).filter { !(20..<35).contains($0) }
        let units = Depacketizer(.transportStream).receiveAll(
            cut.map { TestPacket(payload: source.packets[$0], timestamp: 0) })
        expectRight(units, source, clip, "cut")
        #expect(units.count < clip.pictures.count)
    }

    @Test("Packets that are marked as damaged, or have impossible adaptation fields, are missing")
    func damaged() {
        let clip = CodedClip.h264
        for (place, value) in [(1, UInt8(0x80)), (0, 0x46)] {
            for index in [10, 20, 40] {
                var writer = TransportStreamTests.stream()
                writer.change(index) { $0[place] = place == 1 ? $0[place] | value : value }
                let joiner = Depacketizer(.transportStream)
                expectRight(joiner.receiveAll(writer.payloads(1)), writer, clip, "packet \(index)")
                #expect(joiner.statistics.malformedTransportPackets > 0)
            }
        }
        var writer = TransportStreamTests.stream()
        writer.change(20) { ($0[3], $0[4]) = ($0[3] | 0x30, 200) }
        let joiner = Depacketizer(.transportStream)
        expectRight(joiner.receiveAll(writer.payloads()), writer, clip, "field")
        #expect(joiner.statistics.malformedTransportPackets == 1 && joiner.statistics.lostTransportPackets == 1)
    }

    @Test("Spliced content is not a loss, begins another timeline, and waits for a key frame")
    func splice() {
        let clip = CodedClip.h264
        var writer = TransportStreamTests.stream()
        // Packets that are left out, so that the counter jumps.
        let kept = writer.packets.count
        writer.append(CodedClip(pictures: Array(clip.pictures[..<1])))
        let dropped = kept..<writer.packets.count
        let spliced = writer.packets.count
        writer.start = 5_000_000
        writer.appendPES(
            writer.bytes(clip, clip.pictures[0]), time: writer.time(of: 0), picture: 0, hasDiscontinuity: true)
        writer.append(CodedClip(pictures: Array(clip.pictures[1..<5])), from: 1)
        #expect(!dropped.isEmpty)
        let packets = (Array(0..<kept) + Array(spliced..<writer.packets.count)).map {
            TestPacket(payload: writer.packets[$0], timestamp: 0)
        }
        let units = Depacketizer(.transportStream).receiveAll(packets)
        let expected = TransportStreamTests.expected(writer, clip)
        #expect(units.map(\.bytes) == expected + expected[..<5])
        #expect(units.map(\.startsTimeline) == units.indices.map { $0 == expected.count })
        #expect(units.dropFirst(expected.count).first?.isKey == true)
    }
}
