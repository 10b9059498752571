import InletCore
import InletRTP
import Testing

/// The same clip, sent in many wrong ways, gives the same pictures.
@Suite struct NALQuirkTests {
    struct Case: Sendable, CustomStringConvertible {
        var description: String
        var isBuffered = false
        var change: @Sendable (inout NALSender) -> Void
    }

    static let cases: [Case] = [
        Case(description: "as the RFC says") { _ in },
        Case(description: "as the RFC says, buffered", isBuffered: true) { _ in },
        Case(description: "in large packets") { $0.mtu = 1400 },
        Case(description: "in tiny fragments") { $0.mtu = 1 },
        Case(description: "without markers") { $0.marker = .never },
        Case(description: "with markers on every slice, buffered", isBuffered: true) { $0.marker = .everySlice },
        Case(description: "with markers on parameter sets") { $0.marker = .alsoParameterSets },
        Case(description: "with markers on every packet, buffered", isBuffered: true) { $0.marker = .everyPacket },
        Case(description: "with parameter sets of the previous picture's time") { $0.hasOldParameterTimes = true },
        Case(description: "with parameter sets of the previous picture's time, and markers on them") {
            $0.hasOldParameterTimes = true
            $0.marker = .alsoParameterSets
        },
        Case(description: "with parameter sets of the previous picture's time, and without markers") {
            $0.hasOldParameterTimes = true
            $0.marker = .never
        },
        Case(description: "with aggregated parameter sets") { $0.aggregation = .parameterSets },
        Case(description: "with all of a picture in one fragmented unit with start codes") { $0.aggregation = .annexB },
        Case(description: "with start codes split over fragments") {
            $0.aggregation = .annexB
            $0.mtu = 1
        },
        Case(description: "with short start codes split over fragments") {
            $0.aggregation = .annexB
            $0.hasShortStartCodes = true
            $0.mtu = 1
        },
        Case(description: "with short start codes in fragments of two bytes") {
            $0.aggregation = .annexB
            $0.hasShortStartCodes = true
            $0.mtu = 2
        },
        Case(description: "with start codes in fragments of three bytes") {
            $0.aggregation = .annexB
            $0.mtu = 3
        },
        Case(description: "without end bits") { $0.dropsEndBits = true },
        Case(description: "without end bits and markers") {
            $0.dropsEndBits = true
            $0.marker = .never
        },
        Case(description: "with both bits on small units") {
            $0.sendsWholeFragments = true
            $0.mtu = 4000
        },
        Case(description: "with another type on later fragments") { $0.lastFragmentType = 2 },
        Case(description: "with empty fragments") { $0.hasEmptyFragments = true },
        Case(description: "with all pictures of one time") { $0.interval = 0 },
        Case(description: "with all pictures of one time, without markers") {
            $0.interval = 0
            $0.marker = .never
        },
    ]

    @Test("A clip of H.264 that is sent", arguments: cases)
    func isJoined(_ sent: Case) { check(.h264, sent) }

    @Test("A clip of H.265 that is sent", arguments: cases)
    func isJoinedToo(_ sent: Case) { check(.hevc, sent) }

    private func check(_ clip: CodedClip, _ sent: Case) {
        var sender = NALSender(isHEVC: clip.isHEVC)
        sent.change(&sender)
        let units = Depacketizer.of(clip).receiveAll(sender.packets(clip), isBuffered: sent.isBuffered)
        #expect(units.count == clip.pictures.count)
        for (index, (unit, expected)) in zip(units, clip.annexB).enumerated() {
            #expect(unit.bytes == expected, "picture \(index)")
            #expect(unit.isKey == (clip.pictures[index].count > 2), "picture \(index)")
            #expect(!unit.isDamaged && !unit.isAfterLoss)
            #expect(unit.timestamp == sender.start &+ UInt32(index) &* sender.interval)
            #expect(unit.hasNewParameterSets == (index == 0), "picture \(index)")
        }
    }

    @Test(
        "The picture is returned with its last packet, though the peer withholds the next, except the first",
        arguments: [false, true])
    func isEager(isHEVC: Bool) {
        let clip = isHEVC ? CodedClip.hevc : .h264
        let packets = NALSender(isHEVC: isHEVC).packets(clip)
        let joiner = Depacketizer.of(clip)
        for (index, packet) in packets.enumerated() {
            var units = joiner.receive(packet)
            let isLast = index == packets.count - 1 || packets[index + 1].picture != packet.picture
            if isLast, packet.picture == 0 {
                #expect(units.isEmpty)
                joiner.tick(at: MonotonicTime(nanoseconds: 100_000_000))
                units = joiner.takeAll()
            }
            #expect(units.map(\.bytes) == (isLast ? [clip.annexB[packet.picture]] : []))
            #expect(joiner.quietDeadline == nil)
        }
    }

    @Test("A held picture is returned as soon as the buffer is empty")
    func heldIsReleased() {
        let clip = CodedClip.h264
        let joiner = Depacketizer.trusting()
        let time = MonotonicTime(nanoseconds: 77)
        for packet in NALSender().packets(clip).prefix(while: { $0.picture == 0 }) {
            #expect(joiner.receive(packet, at: time, hasMore: true).isEmpty)
        }
        #expect(joiner.quietDeadline == time)
        joiner.tick(at: time)
        #expect(joiner.takeAll().map(\.bytes) == [clip.annexB[0]])
        #expect(joiner.quietDeadline == nil)
    }

    @Test("A stream without markers ends its pictures by quiet time from the third on")
    func quietTime() {
        let clip = CodedClip.h264
        let packets = NALSender(marker: .never).packets(clip)
        let joiner = Depacketizer.of(clip)
        var now = MonotonicTime(nanoseconds: 0)
        var units: [AccessUnit] = []
        for (index, packet) in packets.enumerated() {
            units += joiner.receive(packet, at: now)
            guard index == packets.count - 1 || packets[index + 1].picture != packet.picture else { continue }
            if packet.picture >= 2 {
                #expect(joiner.quietDeadline == now + .milliseconds(5))
                joiner.tick(at: now + .milliseconds(4))
                #expect(joiner.takeUnit() == nil)
                joiner.tick(at: now + .milliseconds(5))
                units += joiner.takeAll()
                #expect(units.count == packet.picture + 1)
            }
            now = now + .milliseconds(100)
        }
        #expect(units.map(\.bytes) == clip.annexB)
    }

    @Test("Markers on every slice cost no picture, and then the number of slices determines the end")
    func sliceMarkers() {
        let clip = CodedClip.h264
        let packets = NALSender(marker: .everySlice).packets(clip)
        let joiner = Depacketizer.of(clip)
        var units: [AccessUnit] = []
        var late = 0
        for (index, packet) in packets.enumerated() {
            let new = joiner.receive(packet)
            units += new
            let isLast = index == packets.count - 1 || packets[index + 1].picture != packet.picture
            if packet.picture > 6, isLast, new.isEmpty { late += 1 }
        }
        joiner.end()
        units += joiner.takeAll()
        #expect(joiner.statistics.latePictureParts == 0)
        #expect(units.map(\.bytes) == clip.annexB)
        #expect(units.allSatisfy { !$0.isAfterLoss })
        #expect(late == 0)
    }

    @Test(
        "Markers on every slice, with pauses after each, cost no picture", arguments: [false, true],
        [Int64(1), 8, 20, 45])
    func sliceMarkersWithPauses(isHEVC: Bool, pause: Int64) {
        let clip = isHEVC ? CodedClip.hevc : .h264
        let joiner = Depacketizer.of(clip)
        var units: [AccessUnit] = []
        var now = MonotonicTime(nanoseconds: 0)
        var picture = 0
        for packet in NALSender(marker: .everySlice, isHEVC: isHEVC).packets(clip) {
            now = now + .milliseconds(packet.picture == picture ? pause : 150)
            picture = packet.picture
            while let deadline = joiner.quietDeadline, deadline <= now {
                joiner.tick(at: deadline)
                units += joiner.takeAll()
            }
            units += joiner.receive(packet, at: now)
        }
        joiner.end()
        units += joiner.takeAll()
        #expect(units.map(\.bytes) == clip.annexB)
        #expect(units.allSatisfy { !$0.isAfterLoss && !$0.isDamaged })
        #expect(joiner.statistics.latePictureParts == 0)
    }

    @Test("Markers on every slice of H.265 cut off no picture, which no decoder would notice")
    func sliceMarkersHEVC() {
        let clip = CodedClip.hevc
        let joiner = Depacketizer.of(clip)
        var units: [AccessUnit] = []
        for packet in NALSender(marker: .everySlice, isHEVC: true).packets(clip) { units += joiner.receive(packet) }
        joiner.end()
        units += joiner.takeAll()
        #expect(units.map(\.bytes) == clip.annexB)
        #expect(units.allSatisfy { !$0.isAfterLoss && !$0.isDamaged })
        #expect(joiner.statistics.latePictureParts == 0)
    }

    /// A clip whose pictures have the given numbers of slices.
    private func clip(_ counts: [Int], isHEVC: Bool) -> CodedClip {
        let base = isHEVC ? CodedClip.hevc : .h264
        let pictures = counts.enumerated().map { index, count in
            let picture = base.pictures[index % base.pictures.count]
            let first = picture.prefix { !base.isSlice($0) }.count
            // Only the first slice of a picture is marked as such.
            return Array(picture[...first]) + Array(repeating: picture[picture.count - 1], count: count - 1)
        }
        return CodedClip(pictures: pictures, isHEVC: isHEVC)
    }

    /// The numbers of slices: by libx264 with `slice-max-size`, twice as many in key frames, and at random.
    private static let counts: [[Int]] = [
        [3] + Array(repeating: 1, count: 23) + [2, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1]
            + [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2] + Array(repeating: 1, count: 19) + [3, 1, 1, 1, 2, 2, 2],
        (0..<120).map { $0 % 12 == 0 ? 8 : 4 },
        (0..<200).map { [2, 1, 1, 1, 1, 3, 8, 8, 8, 8, 8, 8, 5, 1, 7][($0 * $0 / 7) % 15] },
    ]

    @Test(
        "Numbers of slices that vary cost no picture with markers on every slice", arguments: counts, [false, true])
    func varyingSlices(_ counts: [Int], isHEVC: Bool) {
        let clip = clip(counts, isHEVC: isHEVC)
        for marker in [NALSender.Marker.honest, .everySlice] {
            let joiner = Depacketizer.of(clip)
            let units = joiner.receiveAll(NALSender(marker: marker, isHEVC: isHEVC).packets(clip))
            let wrong = zip(units, clip.annexB).enumerated().first { $0.element.0.bytes != $0.element.1 }?.offset
            #expect(wrong == nil && units.count == clip.pictures.count, "\(marker)")
            #expect(units.allSatisfy { !$0.isAfterLoss && !$0.isDamaged })
            #expect(joiner.statistics.latePictureParts == 0, "\(marker)")
        }
    }

    @Test(
        "A stream whose first pictures have one slice loses one picture to markers on every slice",
        arguments: [false, true])
    func laterSlices(isHEVC: Bool) {
        let counts = (0..<240).map { $0 % 24 == 23 ? 3 : 1 }
        let clip = clip(counts, isHEVC: isHEVC)
        let joiner = Depacketizer.of(clip)
        let units = joiner.receiveAll(NALSender(marker: .everySlice, isHEVC: isHEVC).packets(clip))
        #expect(joiner.statistics.latePictureParts == 1)
        // The pictures after the lost one up to the next key frame lack references.
        #expect(Array(units.map(\.bytes).suffix(192)) == Array(clip.annexB.suffix(192)))
        #expect(units.suffix(192).allSatisfy { !$0.isDamaged })
    }

    @Test("Numbers of slices that vary delay pictures only by quiet time", arguments: [false, true])
    func varyingSlicesInTime(isHEVC: Bool) {
        let clip = clip(Self.counts[0], isHEVC: isHEVC)
        let packets = NALSender(marker: .everySlice, isHEVC: isHEVC).packets(clip)
        let joiner = Depacketizer.of(clip)
        var (now, units) = (MonotonicTime(nanoseconds: 0), [AccessUnit]())
        for (index, packet) in packets.enumerated() {
            units += joiner.receive(packet, at: now)
            guard index == packets.count - 1 || packets[index + 1].picture != packet.picture else { continue }
            joiner.tick(at: now + .milliseconds(packet.picture < 4 ? 99 : 5))
            units += joiner.takeAll()
            // The first pictures end with the next one, which shows the sender's pauses.
            if packet.picture > 5 { #expect(units.count == packet.picture + 1) }
            now = now + .milliseconds(200)
        }
        #expect(units.map(\.bytes) == clip.annexB)
        #expect(joiner.statistics.latePictureParts == 0)
    }

    @Test("The first picture is complete when nothing follows its marker for a while", arguments: [false, true])
    func firstPicture(isHEVC: Bool) {
        let clip = isHEVC ? CodedClip.hevc : .h264
        let joiner = Depacketizer.of(clip)
        let now = MonotonicTime(nanoseconds: 0)
        let packets = NALSender(isHEVC: isHEVC).packets(clip)
        for packet in packets.prefix(while: { $0.picture == 0 }) {
            #expect(joiner.receive(packet, at: now).isEmpty)
        }
        joiner.tick(at: now + .milliseconds(99))
        #expect(joiner.takeUnit() == nil)
        joiner.tick(at: now + .milliseconds(100))
        #expect(joiner.takeAll().map(\.bytes) == [clip.annexB[0]])
    }

    @Test("A marker on a fragment without end bit ends the picture after quiet time")
    func markerInFragment() {
        let clip = CodedClip.h264
        let joiner = Depacketizer.trusting()
        let now = MonotonicTime(nanoseconds: 0)
        for packet in NALSender(dropsEndBits: true).packets(clip).prefix(while: { $0.picture == 0 }) {
            #expect(joiner.receive(packet, at: now).isEmpty)
        }
        #expect(joiner.statistics.markersInFragments == 1)
        #expect(joiner.quietDeadline == now + .milliseconds(5))
        joiner.tick(at: now + .milliseconds(5))
        #expect(joiner.takeAll().map(\.bytes) == [clip.annexB[0]])
    }

    @Test("A sender that pauses within a picture gets more quiet time")
    func longerPause() throws {
        let clip = CodedClip.h264
        let packets = NALSender(mtu: 4000, marker: .never).packets(clip)
        let joiner = Depacketizer.of(clip)
        var units: [AccessUnit] = []
        for packet in packets where packet.picture < 3 { units += joiner.receive(packet) }
        let third = packets.filter { $0.picture == 3 }
        let now = MonotonicTime(nanoseconds: 0)
        units += joiner.receive(third[0], at: now)
        joiner.tick(at: now + .milliseconds(5))
        units += joiner.takeAll()
        #expect(units.count == 4)
        _ = joiner.receive(third[1], at: now)
        #expect(joiner.statistics.latePictureParts == 1)
        #expect(joiner.quietDeadline == now + .milliseconds(10))
        let next = packets.filter { $0.picture >= 4 }
        units = next.flatMap { joiner.receive($0, at: now) }
        // The picture that was returned too early is unreferenced.
        #expect(clip.pictures[3][0][0] & 0x60 == 0)
        #expect(units.allSatisfy { !$0.isAfterLoss })
        #expect(units.first?.bytes == clip.annexB[4])
    }
}
