import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct NegotiationTests {
    private static func size(_ text: String) -> ImageSize {
        ImageSize(optionText: text) ?? ImageSize(width: 0, height: 0)
    }

    /// A camera from lines such as `YUYV 640x480@30,15 1280x720@10`.
    private static func camera(_ lines: String...) -> Negotiation {
        let formats = lines.map { line -> V4L2FormatInfo in
            let words = line.split(separator: " ").map(String.init)
            let sizes = words.dropFirst().map { word -> V4L2FrameSizes in
                let parts = word.split(separator: "@").map(String.init)
                let rates =
                    parts.count > 1
                    ? parts[1].split(separator: ",").compactMap { Rational(optionText: String($0)) } : []
                return V4L2FrameSizes(size(parts[0]), rates)
            }
            let code = FourCC(words[0]) ?? "????"
            return V4L2FormatInfo(
                fourCC: code, isCompressed: ["MJPG", "H264", "HEVC"].contains(words[0]), sizes: Array(sizes))
        }
        return Negotiation(formats: formats) { _, _ in .discrete([]) }
    }

    /// From the Logitech C920's descriptors, shortened.
    private static let c920 = camera(
        "YUYV 640x480@30,15,5 800x600@24,15 1280x720@10,5 1920x1080@5 2304x1536@2",
        "MJPG 640x480@30,15 800x600@30 1280x720@30,15 1920x1080@30,15",
        "H264 640x480@30 1280x720@30 1920x1080@30")
    /// A cheap camera, uncompressed only.
    private static let cheap = camera("YUYV 640x480@30 352x288@30 320x240@30 1280x720@9")
    /// A sensor with a range of sizes.
    private static let stepwise = Negotiation(formats: [
        V4L2FormatInfo(
            fourCC: "NV12",
            sizes: [
                V4L2FrameSizes(
                    least: size("32x16"), greatest: size("1920x1088"), step: size("16x8"),
                    rates: .range(Rational(1), Rational(60)))
            ])
    ]) { _, size in size.width > 1280 ? .range(Rational(1), Rational(30)) : .range(Rational(1), Rational(60)) }

    @Test(
        "By default the highest rate near 1280x720 is chosen, then the cheapest format",
        arguments: [
            (c920, "1280x720 at 30 fps (MJPG)"),
            (camera("YUYV 1280x720@30", "MJPG 1280x720@30"), "1280x720 at 30 fps (YUYV)"),
            (camera("YUYV 1280x720@15", "MJPG 1280x720@30"), "1280x720 at 30 fps (MJPG)"),
            (camera("H264 1280x720@30", "MJPG 1280x720@30"), "1280x720 at 30 fps (MJPG)"),
            (
                camera("MJPG 1280x720@30", "YUYV 1280x720@30", "NV12 1280x720@30", "YU12 1280x720@30"),
                "1280x720 at 30 fps (YU12)"
            ),
            (camera("YUYV 1280x720@30", "NV12 1280x720@30000/1001"), "1280x720 at 29.97 fps (NV12)"),
            (camera("YUYV 640x480@60 1280x720@30 1920x1080@30"), "1280x720 at 30 fps (YUYV)"),
            (camera("MJPG 1280x720@30 1920x1080@60"), "1280x720 at 30 fps (MJPG)"),
            (cheap, "1280x720 at 9 fps (YUYV)"),
            (camera("YUYV 640x480@30 320x240@30"), "640x480 at 30 fps (YUYV)"),
            (camera("GREY 1280x720@30", "H264 1280x720@30"), "1280x720 at 30 fps (H264)"),
            (camera("GREY 640x400@60"), "640x400 at 60 fps (GREY)"),
            (stepwise, "1280x720 at 60 fps (NV12)"),
            (camera("YUYV"), "1280x720 (YUYV)"),
        ])
    func best(camera: Negotiation, mode: String) throws {
        #expect(try camera.choose(.init()).description == mode)
    }

    @Test(
        "A requested property is respected, with the best choice for the others",
        arguments: [
            ("640x480", nil, nil, "640x480 at 30 fps (YUYV)"),
            ("1920x1080", nil, nil, "1920x1080 at 30 fps (MJPG)"),
            ("1920x1080", nil, "YUYV", "1920x1080 at 5 fps (YUYV)"),
            (nil, nil, "YUYV", "800x600 at 24 fps (YUYV)"),
            (nil, "10", nil, "1280x720 at 10 fps (YUYV)"),
            (nil, nil, "H264", "1280x720 at 30 fps (H264)"),
            (nil, "29.97", "MJPG", "1280x720 at 30 fps (MJPG)"),
            ("1280x720", "15", nil, "1280x720 at 15 fps (MJPG)"),
        ] as [(String?, String?, String?, String)])
    func wish(size: String?, rate: String?, format: String?, mode: String) throws {
        let request = Negotiation.Request(
            size: size.map(Self.size), rate: rate.flatMap { Rational(optionText: $0) },
            format: format.flatMap { FourCC($0) })
        #expect(try Self.c920.choose(request).description == mode)
    }

    @Test(
        "An impossible request is refused with the nearest possible one",
        arguments: [
            ("641x480", nil, nil, "640x480 at 30 fps"),
            ("1280x720", "60", nil, "1280x720 at 30 fps (MJPG)"),
            ("1920x1080", "30", "YUYV", "1920x1080 at 5 fps (YUYV)"),
            (nil, "120", nil, "1280x720 at 30 fps"),
        ] as [(String?, String?, String?, String)])
    func refused(size: String?, rate: String?, format: String?, nearest: String) {
        let request = Negotiation.Request(
            size: size.map(Self.size), rate: rate.flatMap { Rational(optionText: $0) },
            format: format.flatMap { FourCC($0) })
        let error = #expect(throws: InletError.self) { try Self.c920.choose(request) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("nearest is \(nearest)") == true, "\(error?.message ?? "")")
    }

    @Test("A range of sizes accepts those that fit its steps, and requests the rates there")
    func steps() throws {
        #expect(try Self.stepwise.choose(.init(size: Self.size("640x360"))).description == "640x360 at 60 fps (NV12)")
        #expect(
            try Self.stepwise.choose(.init(size: Self.size("1920x1080"))).description == "1920x1080 at 30 fps (NV12)")
        let error = #expect(throws: InletError.self) {
            try Self.stepwise.choose(.init(size: Self.size("641x361")))
        }
        #expect(error?.message.contains("640x360") == true)
    }

    @Test("A format that is not offered, or is unsupported, is refused with the possible ones")
    func formats() {
        let error = #expect(throws: InletError.self) { try Self.c920.choose(.init(format: "MJPE")) }
        #expect(error?.message.contains("Did you mean MJPG?") == true)
        let unreadable = Self.camera("HSV3 640x480@30", "YUYV 640x480@30")
        #expect(throws: InletError.self) { try unreadable.choose(.init(format: "HSV3")) }
        let nothing = #expect(throws: InletError.self) { try Self.camera("HSV3 640x480@30").choose(.init()) }
        #expect(nothing?.message.contains("HSV3") == true)
        #expect(throws: InletError.self) { try Self.camera().choose(.init()) }
    }

    @Test("When the bus is full, a compressed mode is suggested, then a smaller one")
    func lighter() {
        func lighter(_ mode: String, _ code: FourCC) -> String? {
            Self.c920.lighter(than: V4L2CaptureMode(format: code, size: Self.size(mode), rate: nil))?.description
        }
        #expect(lighter("1280x720", "YUYV")?.hasPrefix("1280x720 at 30 fps") == true)
        #expect(lighter("1280x720", "MJPG") == "800x600 at 30 fps (MJPG)")
        #expect(lighter("640x480", "MJPG") == nil)
        #expect(
            Self.cheap.lighter(than: V4L2CaptureMode(format: "YUYV", size: Self.size("640x480"), rate: nil))?
                .description == "352x288 at 30 fps (YUYV)")
    }
}
