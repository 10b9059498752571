import InletCore
import Testing

@testable import ScreenSource

struct CaptureScheduleTests {
    private func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    @Test("A change is captured at once, and the next one not sooner than the rate allows")
    func changes() {
        var schedule = CaptureSchedule(interval: .milliseconds(40), refresh: .seconds(1), seesChanges: true)
        #expect(schedule.due <= time(0))
        schedule.capture(at: time(0))
        #expect(schedule.due == time(1000))
        schedule.noteChange()
        #expect(schedule.due == time(40))
        schedule.capture(at: time(500))
        schedule.noteChange()
        #expect(schedule.due == time(540))
    }

    @Test("A slightly late capture does not shift the schedule")
    func beat() {
        var schedule = CaptureSchedule(interval: .milliseconds(40), refresh: .seconds(1), seesChanges: true)
        schedule.capture(at: time(0))
        schedule.noteChange()
        schedule.capture(at: time(45))
        schedule.noteChange()
        #expect(schedule.due == time(80))
        schedule.capture(at: time(110))
        schedule.noteChange()
        #expect(schedule.due == time(150))
    }

    @Test("If a server reports no changes, pictures are due at the rate")
    func blind() {
        var schedule = CaptureSchedule(interval: .milliseconds(40), refresh: .seconds(1), seesChanges: false)
        schedule.capture(at: time(0))
        #expect(schedule.due == time(40))
    }

    @Test("A rate below the refresh rate is kept")
    func slow() {
        var schedule = CaptureSchedule(interval: .seconds(10), refresh: .seconds(1), seesChanges: true)
        schedule.capture(at: time(0))
        #expect(schedule.due == time(10_000))
    }
}

struct ScreenLayoutTests {
    @Test(
        "Layouts have FFmpeg's names",
        arguments: [
            (ScreenLayout(), "bgr0"),
            (ScreenLayout(isBigEndian: true), "0rgb"),
            (ScreenLayout(red: 0xff, blue: 0xff_0000), "rgb0"),
            (ScreenLayout(depth: 24, bitsPerPixel: 24), "bgr24"),
            (ScreenLayout(depth: 16, bitsPerPixel: 16, red: 0xf800, green: 0x7e0, blue: 0x1f), "rgb565le"),
            (ScreenLayout(depth: 15, bitsPerPixel: 16, red: 0x7c00, green: 0x3e0, blue: 0x1f), "rgb555le"),
            (ScreenLayout(depth: 30, red: 0x3ff0_0000, green: 0xf_fc00, blue: 0x3ff), "x2rgb10le"),
            (ScreenLayout(depth: 8, bitsPerPixel: 8, isTrueColor: false), nil),
            (ScreenLayout(green: 0xfe00), nil),
        ] as [(ScreenLayout, String?)])
    func names(layout: ScreenLayout, name: String?) {
        #expect(layout.pixelFormat?.name == name)
    }

    @Test(
        "Rows are padded as the server states",
        arguments: [(1, 24, 32, 4), (5, 24, 32, 16), (5, 16, 32, 12), (5, 16, 16, 10)])
    func strides(width: Int, bits: Int, padding: Int, stride: Int) {
        #expect(ScreenLayout(bitsPerPixel: bits, rowPadding: padding).stride(width: width) == stride)
    }
}

struct PointerPictureTests {
    @Test("A pointer covers, shows through or blends, depending on its opacity")
    func blending() {
        #expect(PointerPicture.blend(0, over: 0x12_3456) == 0x12_3456)
        #expect(PointerPicture.blend(0xff65_4321, over: 0x12_3456) & 0xff_ffff == 0x65_4321)
        // Half-opaque white over black, and over white, which does not change.
        #expect(PointerPicture.blend(0x8080_8080, over: 0) & 0xff_ffff == 0x80_8080)
        #expect(PointerPicture.blend(0x8080_8080, over: 0xff_ffff) & 0xff_ffff == 0xff_ffff)
        // Colours above their opacity, which no correct server sends.
        #expect(PointerPicture.blend(0x10ff_ffff, over: 0xff_ffff) & 0xff_ffff == 0xff_ffff)
    }

    @Test("A pointer at an edge is clipped to the picture", arguments: [-3, -1, 0, 2, 6, 7, 8, 100])
    func edges(x: Int) {
        let pointer = PointerPicture(
            x: x, y: 5, size: ImageSize(width: 3, height: 1), pixels: [0xff00_0001, 0xff00_0002, 0xff00_0003])
        var row = [UInt32](repeating: 0, count: 8)
        do {
            var span = row.mutableSpan
            pointer.draw(over: &span, line: 5, left: 0)
            pointer.draw(over: &span, line: 4, left: 0)
            pointer.draw(over: &span, line: 6, left: 0)
        }
        for (offset, pixel) in row.enumerated() {
            let column = offset - x
            #expect(pixel & 0xff_ffff == ((0..<3).contains(column) ? UInt32(column + 1) : 0))
        }
    }

    @Test("A pointer with fewer pixels than its size requires is not drawn")
    func short() {
        let pointer = PointerPicture(x: 0, y: 0, size: ImageSize(width: 3, height: 3), pixels: [0xff00_0001])
        var row: [UInt32] = [0, 0]
        do {
            var span = row.mutableSpan
            pointer.draw(over: &span, line: 0, left: 0)
        }
        #expect(row == [0, 0])
    }
}

struct ScreenConfigurationTests {
    @Test("Regions are parsed like X geometries")
    func regions() throws {
        #expect(ImageRect(optionText: "1280x720+100+50") == ImageRect(x: 100, y: 50, width: 1280, height: 720))
        for text in ["", "1280x720", "1280x720+1", "1280x720-1-1", "1280x720+1+2+3", "x+1+1", "1x1+ 1+1"] {
            #expect(ImageRect(optionText: text) == nil, "\(text)")
        }
    }

    @Test("Options that are out of range or inconsistent are refused before anything is opened")
    func validation() {
        func code(_ change: (inout ScreenConfiguration) -> Void) -> InletError.Code? {
            var configuration = ScreenConfiguration()
            change(&configuration)
            return #expect(throws: InletError.self) { try configuration.validate() }?.code
        }
        #expect(code { $0.frameRate = Rational(0) } == .invalidConfiguration)
        #expect(code { $0.frameRate = Rational(241) } == .invalidConfiguration)
        #expect(code { $0.refresh = .zero } == .invalidConfiguration)
        #expect(code { $0.buffers = 1 } == .invalidConfiguration)
        #expect(code { $0.region = ImageRect(x: -1, y: 0, width: 8, height: 8) } == .invalidConfiguration)
        #expect(code { $0.region = ImageRect(x: 0, y: 0, width: 0, height: 8) } == .invalidConfiguration)
        #expect(code { $0.display = ":0\u{0}" } == .invalidConfiguration)
        #expect(
            code {
                $0.region = ImageRect(x: 0, y: 0, width: 8, height: 8)
                $0.monitor = "HDMI-1"
            } == .invalidConfiguration)
    }
}
