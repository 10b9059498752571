import InletCore
import InletRTC
import Testing

@Suite struct PassThroughGateTests {
    /// libx264's parameter sets for constrained baseline at level 3.1, shortened. The profile is in the first bytes.
    private static func sets(_ profile: UInt8, _ constraints: UInt8) -> [UInt8] {
        [0, 0, 0, 1, 0x67, profile, constraints, 0x1f, 0xaa, 0, 0, 0, 1, 0x68, 0xce, 0x3c, 0x80]
    }

    private static func parameters(
        _ codec: VideoCodec = .h264, sets: [UInt8] = sets(66, 0xc0),
        size: ImageSize = ImageSize(width: 1280, height: 720)
    ) -> CodecParameters {
        CodecParameters(codec: codec, size: size, timeBase: Rational(1, 90_000), extraData: sets)
    }

    private static func gate(_ parameters: CodecParameters = parameters()) -> PassThroughGate {
        var gate = PassThroughGate(.init(largestSize: ImageSize(width: 1280, height: 720), bitrate: 2_000_000))
        gate.start(parameters)
        return gate
    }

    /// Feeds 30 packets per second with the given size and key frame interval.
    private static func feed(
        _ gate: inout PassThroughGate, _ numbers: Range<Int>, group: Int = 30, bytes: Int = 4000, delay: Int64 = 0,
        head: [UInt8] = []
    ) {
        for number in numbers {
            let dts = MediaTime(ticks: Int64(number) * 3000, timeBase: Rational(1, 90_000))
            let pts = MediaTime(ticks: dts.ticks + delay, timeBase: dts.timeBase)
            gate.add(
                EncodedPacket(
                    data: PacketData(head + Array(repeating: 7, count: bytes - head.count)), pts: pts, dts: dts,
                    isKey: number % group == 0, captureTime: MonotonicTime(nanoseconds: pts.nanoseconds)))
        }
    }

    private static func obstacle(_ gate: PassThroughGate) -> PassThroughGate.Obstacle? {
        guard case .failure(let refusal) = gate.outcome else { return nil }
        return refusal.obstacle
    }

    @Test("A camera's packets pass from its second key frame on, at their rate")
    func passes() throws {
        var gate = Self.gate()
        Self.feed(&gate, 0..<30)
        #expect(Self.obstacle(gate) == .unknown)
        Self.feed(&gate, 30..<31)
        let stream = try gate.outcome.get()
        #expect(stream.profile == H264Profile(number: 66, constraints: 0xc0))
        // 30 packets of 4000 bytes per second.
        #expect(abs(stream.bitrate - 960_000) < 1000)
    }

    @Test(
        "A stream that cannot pass unchanged has a reason",
        arguments: [
            (parameters(.hevc), .codec), (parameters(sets: [1, 66, 0xc0, 31]), .codec),
            (parameters(sets: sets(110, 0)), .profile), (parameters(size: ImageSize(width: 1920, height: 1080)), .size),
        ] as [(CodecParameters, PassThroughGate.Obstacle)])
    func refusals(parameters: CodecParameters, obstacle: PassThroughGate.Obstacle) {
        var gate = Self.gate(parameters)
        Self.feed(&gate, 0..<100)
        #expect(Self.obstacle(gate) == obstacle)
    }

    /// Sequence parameter sets by libx264, with the sample aspect ratios that ffprobe reports.
    private static let shapes: [(sets: String, isSquare: Bool)] = [
        ("6764001eacd940a03da1000003000100000300320f162d96", true),
        ("6764001facd9405005bb011000000300100000030320f1831960", true),
        ("674d401eeca05a09360220000003002000000641e2c5b2c0", true),
        // 64:45 and 16:11 of PAL, 12:11, and 4:3 of HDV.
        ("6742c01ed900b4126ffc010000b440000003004000000c83c58b92", false),
        ("6764001eacd940b4126ffc010000b440000003004000000c83c58b6580", false),
        ("6764001eacd940b4126c1040000003004000000c83c58b6580", false),
        ("674d401eeca05809360420000003002000000641e2c5b2c0", false),
        ("67640028acd9405a0227e5c384000003000400000300c83c60c658", false),
    ]

    @Test("Pictures with pixels that are not square do not pass, because viewers show every pixel as a square")
    func pixelShapes() throws {
        for (text, isSquare) in Self.shapes {
            let digits = text.utf8.compactMap(\.hexadecimalValue)
            let set = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            let sets = [0, 0, 0, 1] + set + [0, 0, 0, 1, 0x68, 0xce, 0x3c, 0x80]
            for isInBand in [false, true] {
                var gate = Self.gate(Self.parameters(sets: isInBand ? [] : sets))
                Self.feed(&gate, 0..<31, head: isInBand ? sets : [])
                #expect(Self.obstacle(gate) == (isSquare ? nil : .pixelShape), "\(text), in band: \(isInBand)")
            }
            // A part of a set is no statement.
            for count in 6..<8 {
                var gate = Self.gate(Self.parameters(sets: [0, 0, 0, 1] + set.prefix(count)))
                Self.feed(&gate, 0..<31)
                #expect(Self.obstacle(gate) == nil, "\(text), \(count) bytes")
            }
            // A container may state another shape.
            var parameters = Self.parameters(sets: sets)
            (parameters.sampleAspectRatio, parameters.hasContainerAspectRatio) = (Rational(64, 45), true)
            var gate = Self.gate(parameters)
            Self.feed(&gate, 0..<31)
            #expect(Self.obstacle(gate) == .pixelShape)
            parameters.sampleAspectRatio = Rational(1)
            gate = Self.gate(parameters)
            Self.feed(&gate, 0..<31)
            #expect(Self.obstacle(gate) == nil)
        }
    }

    @Test("Rotated pictures, B-frames, rare key frames and too high a bit rate do not pass either")
    func refusedLater() {
        var turned = Self.parameters()
        turned.rotation = .clockwise90
        var gate = Self.gate(turned)
        Self.feed(&gate, 0..<100)
        #expect(Self.obstacle(gate) == .rotation)
        gate = Self.gate()
        Self.feed(&gate, 0..<100, delay: 3000)
        #expect(Self.obstacle(gate) == .reordering)
        gate = Self.gate()
        Self.feed(&gate, 0..<200, group: 90)
        #expect(Self.obstacle(gate) == .rareKeyFrames)
        gate = Self.gate()
        Self.feed(&gate, 0..<100, bytes: 12_000)
        #expect(Self.obstacle(gate) == .bitrate)
    }

    @Test("Missing key frames are noticed before the next one arrives, and forgiven when they are frequent again")
    func keyFrames() {
        var gate = Self.gate()
        Self.feed(&gate, 0..<61)
        #expect(Self.obstacle(gate) == nil)
        Self.feed(&gate, 61..<125, group: 1000)
        #expect(Self.obstacle(gate) == .rareKeyFrames)
        Self.feed(&gate, 150..<181)
        #expect(Self.obstacle(gate) == nil)
    }

    @Test("A profile that was not announced is read before the first key frame")
    func profileInBand() throws {
        var gate = Self.gate(Self.parameters(sets: []))
        Self.feed(&gate, 0..<31, head: Self.sets(77, 0))
        #expect(try gate.outcome.get().profile == H264Profile(number: 77, constraints: 0))
    }

    @Test(
        "A profile goes only to viewers that state that they decode it",
        arguments: [(66, 0xc0, 106), (66, 0, 102), (77, 0, 108), (100, 0, 108), (110, 0, nil), (88, 0, nil)]
            as [(UInt8, UInt8, Int?)])
    func payload(number: UInt8, constraints: UInt8, type: Int?) throws {
        let offer = try VideoOffer(VideoOfferTests.offer())
        #expect(offer.payload(for: H264Profile(number: number, constraints: constraints))?.type == type)
    }
}
