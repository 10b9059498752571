import InletCore
import Testing

@testable import InletDecode

@Suite struct PacketFactsTests {
    private static let timeBase = Rational(1, 1000)

    private static func packet(_ ticks: Int64?, capture: Int64?, _ flags: PacketFlags = .key) -> SourcePacket {
        var packet = SourcePacket(
            parameters: CodecParameters(
                codec: .mjpeg, size: ImageSize(width: 16, height: 16), timeBase: timeBase), data: PacketData([1]),
            pts: ticks.map { MediaTime(ticks: $0, timeBase: timeBase) }, dts: nil, flags: flags)
        packet.captureTime = capture.map { MonotonicTime(nanoseconds: $0) }
        return packet
    }

    private static func picture(_ ticks: Int64?, _ format: PixelFormat = .yuvj420p) -> SourceFrame {
        SourceFrame(
            pixelFormat: format, size: ImageSize(width: 16, height: 16), planes: SourcePlanes(),
            owner: Owner(), pts: ticks.map { MediaTime(ticks: $0, timeBase: timeBase) }, sequence: 0,
            colorSpace: ColorSpace(primaries: .bt709, transfer: .bt709, matrix: .bt709, range: .full))
    }

    private final class Owner: Sendable {}

    @Test("A picture gets its packet's capture time, in whatever order pictures come out")
    func times() {
        var facts = PacketFacts(range: nil, matrix: nil)
        for (ticks, capture) in [(40, 1), (120, 2), (80, 3)] as [(Int64, Int64)] {
            facts.note(Self.packet(ticks, capture: capture))
        }
        facts.note(Self.packet(160, capture: nil))
        facts.note(Self.packet(nil, capture: 9))
        let found = ([40, 80, 120, 160, nil] as [Int64?]).map { ticks -> Int64? in
            var frame = Self.picture(ticks)
            facts.complete(&frame)
            return frame.captureTime?.nanoseconds
        }
        #expect(found == [1, 3, 2, nil, nil])
    }

    @Test("A picture that the decoder held back has its packet's times, not those of the newest")
    func held() {
        var facts = PacketFacts(range: nil, matrix: nil)
        // In decoding order, as for I P B B.
        for (index, ticks) in ([0, 120, 40, 80] as [Int64]).enumerated() {
            var packet = Self.packet(ticks, capture: nil)
            packet.wallClock = index == 3 ? nil : 1000 + Int64(index)
            facts.note(packet, arrival: MonotonicTime(nanoseconds: Int64(index)))
        }
        let found = ([0, 40, 80, 120] as [Int64]).map { ticks -> [Int64?] in
            var frame = Self.picture(ticks)
            frame.receiveTime = MonotonicTime(nanoseconds: 99)
            facts.complete(&frame)
            return [frame.receiveTime?.nanoseconds, frame.wallClock]
        }
        #expect(found == [[0, 1000], [2, 1002], [3, nil], [1, 1001]])
    }

    @Test("Among packets without a picture, only the oldest are forgotten")
    func bounded() {
        var facts = PacketFacts(range: nil, matrix: nil)
        for ticks in 0...Int64(200) { facts.note(Self.packet(ticks, capture: ticks)) }
        let found = ([136, 137, 200] as [Int64]).map { ticks -> Int64? in
            var frame = Self.picture(ticks)
            facts.complete(&frame)
            return frame.captureTime?.nanoseconds
        }
        #expect(found == [nil, 137, 200])
    }

    @Test("Only the first picture after a packet of a new timeline is marked")
    func discontinuity() {
        var facts = PacketFacts(range: nil, matrix: nil)
        facts.note(Self.packet(0, capture: nil, [.key, .discontinuity]))
        let found = ([0, 40] as [Int64]).map { ticks -> Bool in
            var frame = Self.picture(ticks)
            facts.complete(&frame)
            return frame.flags.contains(.discontinuity)
        }
        #expect(found == [true, false])
    }

    @Test("Pictures of the old timeline that the decoder held back do not begin the new one")
    func heldBeforeDiscontinuity() {
        for arrival in [nil, MonotonicTime(nanoseconds: 1)] {
            var facts = PacketFacts(range: nil, matrix: nil)
            // In decoding order, as for I P B, and then I B on a new timeline with the B shown first.
            for (ticks, flags) in [(0, .key), (80, []), (40, []), (5040, [.key, .discontinuity]), (5000, [])]
                as [(Int64, PacketFlags)]
            {
                facts.note(Self.packet(ticks, capture: nil, flags), arrival: arrival)
            }
            let found = ([0, 40, 80, 5000, 5040] as [Int64]).filter { ticks in
                var frame = Self.picture(ticks)
                facts.complete(&frame)
                return frame.flags.contains(.discontinuity)
            }
            #expect(found == [5000])
        }
    }

    @Test("A configured range and matrix override the picture's, and its format's name does not contradict them")
    func color() {
        var facts = PacketFacts(range: .limited, matrix: .smpte170m)
        var frame = Self.picture(0, PixelFormat("yuvj422p"))
        facts.complete(&frame)
        #expect(frame.colorSpace.range == .limited && frame.colorSpace.matrix == .smpte170m)
        #expect(frame.colorSpace.primaries == .bt709)
        #expect(frame.pixelFormat == PixelFormat("yuv422p"))
        facts = PacketFacts(range: nil, matrix: nil)
        frame = Self.picture(0)
        facts.complete(&frame)
        #expect(frame.colorSpace.range == .full && frame.pixelFormat == .yuvj420p)
    }
}
