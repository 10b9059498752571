import InletCore
import Testing

@testable import TurboJPEGDecoder

@Suite struct JPEGDescriptionTests {
    /// Markers with their segments, with the lengths added.
    private static func jpeg(_ segments: [(UInt8, [UInt8])]) -> [UInt8] {
        [0xFF, 0xD8]
            + segments.flatMap { kind, bytes -> [UInt8] in
                [0xFF, kind, UInt8((bytes.count + 2) >> 8), UInt8((bytes.count + 2) & 0xFF)] + bytes
            }
    }

    /// 320x240 in three components, 4:2:2.
    private static let frame: [UInt8] = [8, 0, 240, 1, 64, 3, 1, 0x21, 0, 2, 0x11, 1, 3, 0x11, 1]
    private static let scan: (UInt8, [UInt8]) = (0xDA, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])

    private static func reading(_ segments: [(UInt8, [UInt8])]) -> JPEGDescription.Reading {
        JPEGDescription.read(PacketData(jpeg(segments)).bytes)
    }

    private static func with(_ kind: UInt8, _ bytes: [UInt8]) -> JPEGDescription.Reading {
        reading([(kind, bytes), (0xC0, frame), scan])
    }

    @Test("Size, components, scans and density are read")
    func picture() {
        let jfif = Array("JFIF\0".utf8) + [1, 2, 0, 0, 4, 0, 3, 0, 0]
        var expected = JPEGDescription(
            size: ImageSize(width: 320, height: 240), hasChroma: true, isBaseline: true,
            sampleAspectRatio: Rational(4, 3))
        #expect(Self.with(0xE0, jfif) == .picture(expected))
        expected.sampleAspectRatio = nil
        #expect(Self.reading([(0xC0, Self.frame), Self.scan]) == .picture(expected))
        expected.isBaseline = false
        #expect(Self.reading([(0xC2, Self.frame), Self.scan]) == .picture(expected))
        // One component per scan.
        #expect(Self.reading([(0xC0, Self.frame), (0xDA, [1, 1, 0, 0, 63, 0])]) == .picture(expected))
    }

    @Test("Kinds that other decoders handle differently are left to them")
    func foreign() {
        func isForeign(_ reading: JPEGDescription.Reading) -> Bool {
            if case .foreign = reading { return true }
            return false
        }
        for kind in [0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF] as [UInt8] {
            #expect(isForeign(Self.reading([(kind, Self.frame), Self.scan])), "SOF \(kind)")
        }
        var frame = Self.frame
        frame[0] = 12
        #expect(isForeign(Self.reading([(0xC1, frame), Self.scan])))
        #expect(
            isForeign(Self.reading([(0xC0, [8, 0, 240, 1, 64, 4] + [UInt8](repeating: 1, count: 12)), Self.scan])))
        frame = Self.frame
        (frame[6], frame[9], frame[12]) = (0x52, 0x47, 0x42)
        #expect(isForeign(Self.reading([(0xC0, frame), Self.scan])))
        #expect(isForeign(Self.with(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])))
        #expect(!isForeign(Self.with(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])))
        #expect(isForeign(Self.with(0xE0, Array("AVI1".utf8) + [1, 0])))
        #expect(!isForeign(Self.with(0xE0, Array("AVI1".utf8) + [0, 0])))
        #expect(isForeign(Self.with(0xFE, Array("CS=ITU601".utf8))))
        #expect(!isForeign(Self.with(0xFE, Array("Lavc59.37.100".utf8))))
    }

    @Test("A picture that Exif rotates, in either byte order, is left to other decoders")
    func orientation() {
        func exif(_ value: UInt8, little: Bool) -> [UInt8] {
            let tiff: [UInt8] =
                little
                ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0, 0x0F, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]
                    + [0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0]
                : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1] + [1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0]
            return Array("Exif\0\0".utf8) + tiff
        }
        for little in [true, false] {
            #expect(Self.with(0xE1, exif(6, little: little)) == .foreign("a picture that has to be rotated"))
            guard case .picture = Self.with(0xE1, exif(1, little: little)) else {
                Issue.record("an upright picture is refused")
                continue
            }
            // Truncation at any point must not trap.
            for count in 0..<exif(6, little: little).count {
                _ = Self.with(0xE1, Array(exif(6, little: little).prefix(count)))
            }
        }
    }

    @Test("A JPEG that ends before its data, or states wrong lengths, is malformed")
    func malformed() {
        let whole = Self.jpeg([(0xC0, Self.frame), Self.scan])
        for count in 0..<whole.count {
            #expect(JPEGDescription.read(PacketData(Array(whole.prefix(count))).bytes) == .malformed)
        }
        #expect(Self.reading([(0xC0, [8, 0, 0, 0, 0, 3]), Self.scan]) == .malformed)
        #expect(Self.reading([(0xC0, [8, 0, 0, 1, 64, 1, 1, 0x11, 0]), Self.scan]) == .malformed)
        #expect(Self.reading([Self.scan]) == .malformed)
        #expect(JPEGDescription.read(PacketData([0xFF, 0xD8, 0xFF, 0xC0, 0, 0]).bytes) == .malformed)
    }
}
