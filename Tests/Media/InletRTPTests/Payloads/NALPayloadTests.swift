import InletCore
import InletRTP
import Testing

/// Single payloads and short sequences of H.264 and H.265.
@Suite struct NALPayloadTests {
    // Parameter sets and slices of the clip. A slice with bit 7 set in its second byte is a picture's first.
    private static let sets = Array(CodedClip.h264.pictures[0].prefix(2))
    private static let key = Array(CodedClip.h264.pictures[0].dropFirst(2))
    private static let next = CodedClip.h264.pictures[1]

    private static func packet(_ payload: [UInt8], _ time: UInt32 = 0, marker: Bool = false) -> TestPacket {
        TestPacket(payload: payload, timestamp: time, hasMarker: marker)
    }

    private static func aggregate(_ units: [[UInt8]]) -> [UInt8] {
        units.reduce(into: [0x78]) { payload, unit in
            payload += [UInt8(unit.count >> 8), UInt8(unit.count & 255)]
            payload += unit
        }
    }

    @Test("Zeros at the end of a STAP-A are padding")
    func aggregatePadding() {
        let joiner = Depacketizer.trusting()
        let payload = Self.aggregate(Self.sets + Self.key) + [0, 0, 0, 0, 0]
        let units = joiner.receive(Self.packet(payload, marker: true))
        #expect(units.map(\.bytes) == [CodedClip.h264.annexB[0]])
        #expect(joiner.statistics.malformed == 0)
    }

    @Test("A STAP-A that states more than it has is malformed, and its picture damaged")
    func aggregateTooShort() {
        let joiner = Depacketizer.trusting()
        #expect(joiner.receive(Self.packet(Self.aggregate(Self.sets + Self.key).dropLast(), marker: true)).isEmpty)
        #expect(joiner.statistics.malformed == 1)
        #expect(joiner.statistics.damagedUnits == 1)
    }

    @Test("Interleaved payloads and unknown types are refused", arguments: [25, 26, 27, 30, 31] as [UInt8])
    func unsupported(type: UInt8) {
        let joiner = Depacketizer.trusting()
        #expect(joiner.receive(Self.packet([0x60 | type, 0, 0, 0, 1, 2, 3], marker: true)).isEmpty)
        #expect(joiner.statistics.unsupported == 1)
    }

    @Test("The decoding order number of an FU-B is skipped")
    func fragmentWithOrder() {
        let joiner = Depacketizer.trusting()
        let unit = Self.key[0]
        _ = joiner.receive(Self.packet(Self.sets[0]))
        _ = joiner.receive(Self.packet(Self.sets[1]))
        _ = joiner.receive(Self.packet([unit[0] & 0xE0 | 29, 0x80 | unit[0] & 0x1F, 9, 9] + unit[1..<20]))
        _ = joiner.receive(Self.packet([unit[0] & 0xE0 | 28, 0x40 | unit[0] & 0x1F] + unit[20...]))
        let units = joiner.receive(Self.packet(Self.key[1], marker: true))
        #expect(units.map(\.bytes) == [CodedClip.h264.annexB[0]])
    }

    @Test("Fragments without a first one make no picture, and the next whole picture counts as after a loss")
    func fragmentsWithoutStart() {
        let joiner = Depacketizer.trusting()
        #expect(joiner.receive(Self.packet([0x7C, 0x05, 1, 2, 3])).isEmpty)
        #expect(joiner.receive(Self.packet([0x7C, 0x45, 1, 2, 3], marker: true)).isEmpty)
        #expect(joiner.statistics.fragmentsWithoutStart == 2)
        let units = joiner.receive(Self.packet(Self.aggregate(Self.sets + Self.key), 1, marker: true))
        #expect(units.map(\.isAfterLoss) == [true])
    }

    @Test("Parameter sets of the description precede each key picture that lacks them, after a delimiter")
    func describedParameterSets() {
        var settings = DepacketizerSettings()
        settings.doubtsFirstMarker = false
        // One with the suffix that one camera appends, one with a start code in front.
        settings.parameterSets = [Self.sets[0] + [0, 0, 0, 1], [0, 0, 1] + Self.sets[1]]
        let joiner = Depacketizer(.h264, settings: settings)
        #expect(joiner.parameterSets == CodedClip.annexB(Self.sets))
        let delimiter: [UInt8] = [0x09, 0xF0]
        let first = joiner.receive(Self.packet(Self.aggregate([delimiter] + Self.key), marker: true))
        #expect(first.map(\.bytes) == [CodedClip.annexB([delimiter] + Self.sets + Self.key)])
        #expect(first.map(\.hasNewParameterSets) == [true])
        let second = joiner.receive(Self.packet(Self.aggregate(Self.key), 1, marker: true))
        #expect(second.map(\.bytes) == [CodedClip.annexB(Self.sets + Self.key)])
        #expect(second.map(\.hasNewParameterSets) == [false])
    }

    @Test("Parameter sets within the stream replace those of the description")
    func newParameterSets() {
        var settings = DepacketizerSettings()
        settings.doubtsFirstMarker = false
        settings.parameterSets = [Self.sets[0] + [0x55], Self.sets[1]]
        let joiner = Depacketizer(.h264, settings: settings)
        let units = joiner.receive(Self.packet(Self.aggregate(Self.sets + Self.key), marker: true))
        #expect(units.map(\.bytes) == [CodedClip.h264.annexB[0]])
        #expect(joiner.parameterSets == CodedClip.annexB(Self.sets))
    }

    @Test("Parameter sets that arrived with a lost picture are returned with the next")
    func parameterSetsOfLostPicture() {
        let joiner = Depacketizer.trusting()
        let first = Self.aggregate(Self.sets)
        _ = joiner.receive(Self.packet(first))
        #expect(joiner.receive(Self.packet(Self.key[1], marker: true), lostBefore: 1).isEmpty)
        let units = joiner.receive(Self.packet(Self.aggregate(Self.next), 1, marker: true))
        #expect(units.map(\.bytes) == [CodedClip.annexB(Self.sets + Self.next)])
    }

    /// H.264, section D.1.8: message 6 of one byte: recovery_frame_cnt 5 as ue(v) 00110, two flags, two bits of zero.
    @Test("A recovery point is read, also after another message")
    func recoveryPoint() {
        let joiner = Depacketizer.trusting()
        let message: [UInt8] = [0x06, 0x05, 0x02, 0xAA, 0xBB, 0x06, 0x02, 0b0011_0100, 0x40, 0x80]
        _ = joiner.receive(Self.packet(message))
        let units = joiner.receive(Self.packet(Self.aggregate(Self.next), marker: true))
        #expect(units.map(\.recoveryFrames) == [5])
        #expect(units.map(\.isIntra) == [false])
    }

    @Test("A prefix NAL unit belongs to the slice after it")
    func prefix() {
        let joiner = Depacketizer.trusting()
        let prefix: [UInt8] = [0x6E, 0x80, 0x80, 0x07]
        let slices = [Self.key, Self.next].map { [prefix, $0[0], prefix, $0[1]] }
        var units: [AccessUnit] = []
        for slice in slices.flatMap(\.self) { units += joiner.receive(Self.packet(slice)) }
        joiner.end()
        units += joiner.takeAll()
        #expect(units.map(\.bytes) == slices.map(CodedClip.annexB))
    }

    @Test("A unit over the limit is dropped and counted, and the next counts as after a loss")
    func tooLarge() {
        var settings = DepacketizerSettings()
        settings.doubtsFirstMarker = false
        settings.maximumSize = 10_000
        let joiner = Depacketizer(.h264, settings: settings)
        let large = Self.key[0] + [UInt8](repeating: 1, count: 9000)
        _ = joiner.receive(Self.packet(large))
        #expect(joiner.receive(Self.packet(Self.key[1] + large, marker: true)).isEmpty)
        #expect(joiner.statistics.tooLarge == 1)
        let units = joiner.receive(Self.packet(Self.aggregate(Self.sets + Self.key), 1, marker: true))
        #expect(units.map(\.isAfterLoss) == [true])
    }

    @Test("A decoding order number of H.265 is skipped in each structure")
    func orderNumbers() {
        let clip = CodedClip.hevc.pictures[0]
        let (video, sequence, picture, slices) = (clip[0], clip[1], clip[2], Array(clip[3...]))
        let joiner = Depacketizer(.h265(usesDONL: true))
        func sized(_ unit: [UInt8]) -> [UInt8] { [UInt8(unit.count >> 8), UInt8(unit.count & 255)] + unit }
        _ = joiner.receive(Self.packet([48 << 1, 1, 0, 7] + sized(video) + [0] + sized(sequence)))
        _ = joiner.receive(Self.packet(picture[..<2] + [0, 9] + picture[2...]))
        let first = slices[0]
        let type = first[0] >> 1
        _ = joiner.receive(Self.packet([49 << 1, 1, 0x80 | type, 0, 10] + first[2..<30]))
        _ = joiner.receive(Self.packet([49 << 1, 1, 0x40 | type] + first[30...]))
        #expect(joiner.receive(Self.packet(slices[1][..<2] + [0, 11] + slices[1][2...], marker: true)).isEmpty)
        joiner.tick(at: MonotonicTime(nanoseconds: 100_000_000))
        #expect(joiner.takeAll().map(\.bytes) == [CodedClip.hevc.annexB[0]])
        #expect(joiner.receive(Self.packet([50 << 1, 1, 0, 0, 0])).isEmpty)
        #expect(joiner.statistics.unsupported == 1)
    }
}
