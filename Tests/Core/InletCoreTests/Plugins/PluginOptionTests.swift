import InletCore
import Testing

@Suite struct PluginOptionTests {
    private static let size = PluginOption(
        "size", default: ImageSize(width: 1280, height: 720),
        in: ImageSize(width: 16, height: 16)...ImageSize(width: 8192, height: 8192), "Picture size", unit: "pixels")
    private static let frames = PluginOption("frames", default: UInt64?.none, "How many")
    private static let quality = PluginOption("quality", default: 5, in: 1...10, "How good")
    private static let password = PluginOption("password", default: 0, in: 0...9999, "The code")
    private static let declared = [size.description, frames.description, quality.description, password.description]

    private func values(_ options: String) throws(InletError) -> PluginOptionValues {
        try PluginOptionValues(PluginURI("pattern:x?\(options)"), declared: Self.declared)
    }

    @Test("An option that is not given has its default")
    func defaults() throws {
        let values = try values("")
        #expect(values[Self.size] == ImageSize(width: 1280, height: 720))
        #expect(values[Self.frames] == nil)
        #expect(values[Self.quality] == 5)
    }

    @Test("An option that is given has its value, at the ends of its range too")
    func given() throws {
        let values = try values("size=16x8192&frames=9&quality=10")
        #expect(values[Self.size] == ImageSize(width: 16, height: 8192))
        #expect(values[Self.frames] == 9)
        #expect(values[Self.quality] == 10)
    }

    @Test(
        "A value out of type or range is refused with the permitted values",
        arguments: [
            ("quality=0", "1 to 10"), ("quality=11", "1 to 10"), ("quality=good", "integer"), ("quality=", "integer"),
            ("frames=-1", "integer"), ("size=15x16", "16x16 to 8192x8192 (pixels)"), ("size=0x0", "16x16"),
            ("size=8193x16", "8192x8192"),
            // Larger than the minimum by area and by one side, but lower than it: neither limit may be compared by
            // area.
            ("size=8x8000", "16x16"), ("size=9000x16", "8192x8192"), ("size=16x9000", "8192x8192"),
        ])
    func outOfRange(options: String, hint: String) {
        let error = #expect(throws: InletError.self) { try values(options) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(options) == true)
    }

    @Test("A former name still means the option, and never goes into an address")
    func formerName() throws {
        let rate = PluginOption("max-fps", default: 30, "The most pictures a second").formerly("fps", "rate")
        let former = try PluginOptionValues(PluginURI("preview:?fps=5"), declared: [rate.description])
        #expect(former[rate] == 5)
        let ofAddress = try PluginOptionValues(
            PluginURI("http://host/?rate=7"), declared: [rate.description], allowsOthers: true)
        #expect(ofAddress[rate] == 7 && ofAddress.others.isEmpty)
        let twice = #expect(throws: InletError.self) {
            try PluginOptionValues(PluginURI("preview:?fps=5&max-fps=6"), declared: [rate.description])
        }
        #expect(twice?.message == "The option 'max-fps' is given twice.")
        #expect(twice?.context.subject == "preview:?fps=5&max-fps=6", "neither is a secret")
        // An option with the name comes before one that had it earlier.
        let size = PluginOption("fps", default: 1, "Another")
        let present = try PluginOptionValues(
            PluginURI("preview:?fps=9"), declared: [rate.description, size.description])
        #expect(present[size] == 9 && present[rate] == 30)
        let values = try PluginOptionValues(
            PluginURI("http://host/?max-fps=5&query.fps=6"), declared: [rate.description], allowsOthers: true)
        #expect(values[rate] == 5 && values.others.map(\.addressName) == ["fps"])
    }

    @Test("An unknown option is refused with the nearest known")
    func unknown() {
        let near = #expect(throws: InletError.self) { try values("sise=640x480") }
        #expect(near?.message == "pattern: has no option 'sise'. Did you mean 'size'?")
        let far = #expect(throws: InletError.self) { try values("bitrate=5") }
        #expect(far?.message == "pattern: has no option 'bitrate'. It takes size, frames, quality, password.")
        let none = #expect(throws: InletError.self) {
            try PluginOptionValues(PluginURI("null:?size=1x1"), declared: [])
        }
        #expect(none?.message == "null: takes no options, so not 'size' either.")
    }

    @Test("An option given twice is refused, even with the same value")
    func twice() {
        let error = #expect(throws: InletError.self) { try values("quality=5&quality=5") }
        #expect(error?.message == "The option 'quality' is given twice.")
    }

    @Test("A wrong value of a secret option is not quoted")
    func secret() {
        let error = #expect(throws: InletError.self) { try values("password=hunter2") }
        #expect(error.map { "\($0)" }?.contains("hunter2") == false)
        #expect(error?.message.contains("password=***") == true)
    }

    @Test("A listing shows type, default, range and unit")
    func description() {
        let size = Self.size.description
        #expect(size.type == "WIDTHxHEIGHT")
        #expect(size.defaultValue == "1280x720")
        #expect(size.range == "16x16 to 8192x8192")
        #expect(size.unit == "pixels")
        #expect(Self.frames.description.defaultValue == "")
        #expect(Self.frames.description.range == nil)
    }
}
