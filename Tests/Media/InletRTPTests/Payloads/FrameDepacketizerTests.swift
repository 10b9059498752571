import InletCore
import InletRTP
import Testing

/// AV1, VP8, VP9 and MPEG-4 Visual. Payloads and frames are written by hand from the specifications' figures.
@Suite struct FrameDepacketizerTests {
    private static func packet(_ payload: [UInt8], _ time: UInt32 = 0, marker: Bool = false) -> TestPacket {
        TestPacket(payload: payload, timestamp: time, hasMarker: marker)
    }

    // MARK: AV1

    struct AV1Case: Sendable {
        var name: String
        var payloads: [[UInt8]]
        var unit: [UInt8]
    }

    // Type 1 (0x08) is a sequence header, 6 (0x30) a frame, 2 (0x10) a delimiter; bit 0x02 states that a size follows.
    static let av1Cases: [AV1Case] = [
        AV1Case(
            name: "W counts the elements, of which the last has no size",
            payloads: [[0x28, 3, 0x08, 7, 8, 0x30, 0x10, 9]], unit: [0x12, 0, 0x0A, 2, 7, 8, 0x32, 2, 0x10, 9]),
        AV1Case(
            name: "Without W each element has a size",
            payloads: [[0x08, 3, 0x08, 7, 8, 3, 0x30, 0x10, 9]], unit: [0x12, 0, 0x0A, 2, 7, 8, 0x32, 2, 0x10, 9]),
        AV1Case(
            name: "An OBU continues in the next packets",
            payloads: [[0x68, 3, 0x08, 7, 8, 0x30, 0x10], [0xD0, 9, 9], [0x90, 5]],
            unit: [0x12, 0, 0x0A, 2, 7, 8, 0x32, 0x84, 0x80, 0x80, 0, 0x10, 9, 9, 5]),
        AV1Case(
            name: "A size within an OBU is replaced, and a delimiter left out",
            payloads: [[0x38, 2, 0x12, 0, 4, 0x0A, 2, 7, 8, 0x30, 0x10, 9]],
            unit: [0x12, 0, 0x0A, 2, 7, 8, 0x32, 2, 0x10, 9]),
        AV1Case(
            name: "An OBU's extension is kept",
            payloads: [[0x28, 4, 0x0C, 0x28, 7, 8, 0x34, 0x28, 0x10, 9]],
            unit: [0x12, 0, 0x0E, 0x28, 2, 7, 8, 0x36, 0x28, 2, 0x10, 9]),
    ]

    @Test("A temporal unit of AV1:", arguments: av1Cases)
    func av1(_ sent: AV1Case) {
        let joiner = Depacketizer(.av1)
        var units: [AccessUnit] = []
        for (index, payload) in sent.payloads.enumerated() {
            units += joiner.receive(Self.packet(payload, marker: index == sent.payloads.count - 1))
        }
        #expect(units.map(\.bytes) == [sent.unit])
        #expect(units.map(\.isKey) == [true])
        #expect(joiner.statistics.malformed == 0)
    }

    @Test("A new timestamp ends a temporal unit without a marker")
    func av1Timestamp() {
        let joiner = Depacketizer(.av1)
        #expect(joiner.receive(Self.packet([0x10, 0x30, 0x30, 1])).isEmpty)
        let units = joiner.receive(Self.packet([0x10, 0x30, 0x30, 2], 1))
        #expect(units.map(\.bytes) == [[0x12, 0, 0x32, 2, 0x30, 1]])
        #expect(units.map(\.isKey) == [false])
    }

    @Test(
        "An inconsistent payload of AV1 damages its unit",
        arguments: [
            [0x10], [0x20, 9, 1], [0x00, 0xFF], [0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
            [0x90, 1, 2], [0x10, 0x32, 9, 1], [0x50, 0x30, 0x10],
        ] as [[UInt8]])
    func av1Malformed(_ payload: [UInt8]) {
        let joiner = Depacketizer(.av1)
        #expect(joiner.receive(Self.packet(payload, marker: true)).isEmpty)
        #expect(joiner.statistics.damagedUnits == 1)
    }

    // MARK: VP8

    @Test(
        "The descriptor of VP8 is skipped",
        arguments: [
            [0x10], [0x90, 0x80, 0x11], [0x90, 0x80, 0x81, 0x11], [0x90, 0x40, 1], [0x90, 0x20, 1], [0x90, 0x10, 1],
            [0x90, 0xF0, 0x81, 1, 2, 3], [0x90, 0],
        ] as [[UInt8]])
    func vp8(_ descriptor: [UInt8]) {
        let joiner = Depacketizer(.vp8)
        #expect(joiner.receive(Self.packet(descriptor + [0x10, 1, 2])).isEmpty)
        let units = joiner.receive(Self.packet([0x00, 3, 4], marker: true))
        #expect(units.map(\.bytes) == [[0x10, 1, 2, 3, 4]])
        #expect(units.map(\.isKey) == [true])
        #expect(units.map(\.isReference) == [true])
        #expect(joiner.receive(Self.packet(descriptor + [0x11, 1, 2], 1, marker: true)).map(\.isKey) == [false])
    }

    @Test("A loss within an unreferenced VP8 frame affects no other", arguments: [true, false])
    func vp8Loss(isReference: Bool) {
        let joiner = Depacketizer(.vp8)
        let bit: UInt8 = isReference ? 0 : 0x20
        #expect(joiner.receive(Self.packet([0x10, 0x10], marker: true)).count == 1)
        #expect(joiner.receive(Self.packet([0x10 | bit, 0x11], 1)).isEmpty)
        #expect(joiner.receive(Self.packet([bit, 0x11], 1, marker: true), lostBefore: 1).isEmpty)
        let next = joiner.receive(Self.packet([0x10, 0x11], 2, marker: true))
        #expect(next.map(\.isAfterLoss) == [isReference])
        #expect(joiner.statistics.lostNonReference == (isReference ? 0 : 1))
    }

    @Test("A lost frame is noticed, and so is a lost beginning", arguments: [RTPPayloadFormat.vp8, .vp9])
    func lostFrame(format: RTPPayloadFormat) {
        let (start, middle): ([UInt8], [UInt8]) = format == .vp8 ? ([0x10], [0x00]) : ([0x08], [0x00])
        let joiner = Depacketizer(format)
        #expect(joiner.receive(Self.packet(start + [0x86], marker: true), lostBefore: 0).map(\.isAfterLoss) == [false])
        #expect(
            joiner.receive(Self.packet(start + [0x86], 1, marker: true), lostBefore: 1).map(\.isAfterLoss) == [true])
        #expect(joiner.receive(Self.packet(middle + [0x86], 2, marker: true), lostBefore: 1).isEmpty)
        #expect(joiner.receive(Self.packet(start + [0x86], 3, marker: true)).map(\.isAfterLoss) == [true])
    }

    // MARK: VP9

    @Test(
        "The descriptor of VP9 is skipped",
        arguments: [
            [0x08], [0x88, 0x11], [0x88, 0x81, 0x11], [0x28, 0x10, 7], [0x38, 0x10], [0x58, 0x03, 0x02],
            [0x0A, 0x18, 1, 2, 3, 4, 2, 0x14, 1, 0x08, 1, 2], [0x0A, 0x30, 1, 2, 3, 4, 5, 6, 7, 8],
        ] as [[UInt8]])
    func vp9(_ descriptor: [UInt8]) {
        let joiner = Depacketizer(.vp9)
        #expect(joiner.receive(Self.packet(descriptor + [0x82, 1, 2])).isEmpty)
        let units = joiner.receive(Self.packet([0x04, 3, 4], marker: true))
        // Descriptors with a structure of one frame per layer, whose ends are not marked here, need no index.
        #expect(units.map(\.bytes) == [[0x82, 1, 2, 3, 4]])
        #expect(units.map(\.isKey) == [true])
        #expect(joiner.receive(Self.packet(descriptor + [0x86, 1, 2], 1, marker: true)).map(\.isKey) == [false])
    }

    @Test("Layers of VP9 become a superframe with an index")
    func vp9Layers() {
        let joiner = Depacketizer(.vp9)
        _ = joiner.receive(Self.packet([0x2C, 0x00, 0, 0x82, 1, 2]))
        let units = joiner.receive(Self.packet([0x2C, 0x02, 0, 0x86, 5], marker: true))
        #expect(units.map(\.bytes) == [[0x82, 1, 2, 0x86, 5, 0xD9, 3, 0, 0, 0, 2, 0, 0, 0, 0xD9]])
    }

    // MARK: MPEG-4

    @Test("The configuration of MPEG-4 precedes a key picture that lacks it")
    func mpeg4() {
        var settings = DepacketizerSettings()
        settings.parameterSets = [[0, 0, 1, 0x20, 5]]
        let joiner = Depacketizer(.mpeg4Visual, settings: settings)
        let key: [UInt8] = [0, 0, 1, 0xB6, 0x10, 1]
        #expect(joiner.receive(Self.packet(key, marker: true)).map(\.bytes) == [[0, 0, 1, 0x20, 5] + key])
        let whole: [UInt8] = [0, 0, 1, 0x20, 9] + key
        let second = joiner.receive(Self.packet(whole, 1, marker: true))
        #expect(second.map(\.bytes) == [whole])
        #expect(second.map(\.isKey) == [true])
        let predicted = joiner.receive(Self.packet([0, 0, 1, 0xB6, 0x50, 1], 2, marker: true))
        #expect(predicted.map(\.isKey) == [false])
        #expect(predicted.map(\.isReference) == [true])
        let other = joiner.receive(Self.packet([0, 0, 1, 0xB6, 0x90, 1], 3, marker: true))
        #expect(other.map(\.isReference) == [false])
    }
}
