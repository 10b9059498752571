import Foundation
import InletCore
import InletFFmpeg
import ReferenceTools
import Testing

@Suite(.blocking) struct JPEGHeaderTests {
    private func size(_ bytes: [UInt8]) -> ImageSize? { unsafe JPEGHeader.size(in: bytes.span.bytes) }

    private func jpeg(_ arguments: [String]) throws -> [UInt8] {
        [UInt8](
            try ReferenceCommand.ffmpeg(
                ["-f", "lavfi", "-i", "testsrc2=size=98x66", "-frames:v", "1"] + arguments
                    + ["-f", "image2pipe", "-c:v", "mjpeg", "-"]))
    }

    @Test("The size of a JPEG by ffmpeg is read, for any samples")
    func real() throws {
        for format in ["yuvj420p", "yuvj422p", "yuvj444p"] {
            #expect(size(try jpeg(["-pix_fmt", format])) == ImageSize(width: 98, height: 66))
        }
    }

    @Test("A truncated or damaged JPEG gives no size or one size, and never traps")
    func damaged() throws {
        let whole = try jpeg([])
        var found = 0
        for count in 0..<min(whole.count, 700) { found += size(Array(whole[..<count])) == nil ? 0 : 1 }
        #expect(found > 0 && found < 700)
        for place in 0..<400 {
            for value in [0, 0xFF, 0xD9, 0xC4] as [UInt8] {
                var bytes = whole
                bytes[place] = value
                _ = size(bytes)
            }
        }
    }

    @Test("Markers without segments and fill bytes are skipped; other tables are not a frame")
    func markers() {
        let frame: [UInt8] = [0xFF, 0xC2, 0, 11, 8, 0x3E, 0x80, 0x10, 0x01, 1, 1, 0x11, 0]
        #expect(size([0xFF, 0xD8, 0xFF, 0xFF, 0xFF] + frame.dropFirst()) == ImageSize(width: 0x1001, height: 16_000))
        #expect(
            size([0xFF, 0xD8, 0xFF, 0x01, 0xFF, 0xC4, 0, 3, 7] + frame) == ImageSize(width: 0x1001, height: 16_000))
        #expect(size([0xFF, 0xD8, 0xFF, 0xDA] + frame) == nil)
        #expect(size([0xFF, 0xD8, 0xFF, 0xE0, 0, 1] + frame) == nil)
        #expect(size([0x89, 0x50] + frame) == nil)
        #expect(size([]) == nil)
    }
}
