import InletV4L2
import Testing

@Suite struct FourCCTests {
    @Test(
        "Letters are packed as the kernel packs them",
        arguments: [("YUYV", 0x5659_5559), ("GREY", 0x5945_5247), ("Y16 ", 0x2036_3159)])
    func packing(text: String, value: UInt32) {
        #expect(FourCC(text)?.rawValue == value)
    }

    @Test("Short names are padded with spaces, and written without them", arguments: ["Y16", "Y16 "])
    func spaces(text: String) {
        #expect(FourCC(text)?.description == "Y16")
    }

    @Test("The mark of big-endian formats is read and written", arguments: ["Y16 -BE", "Y16-BE"])
    func bigEndian(text: String) throws {
        let code = try #require(FourCC(text))
        #expect(code.rawValue == 0xA036_3159)
        #expect(code.isBigEndian)
        #expect(code.description == "Y16-BE")
    }

    @Test("Text other than four letters is refused", arguments: ["", "TOOLONG", "a\nb", "ä", "Y16-BE\u{301}"])
    func refused(text: String) {
        #expect(FourCC(text) == nil)
    }
}
