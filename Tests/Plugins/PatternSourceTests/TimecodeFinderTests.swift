import InletCore
import Testing

@testable import PatternSource

/// Codes of a screen in pictures of a camera. They are drawn by the inverse of the reader's method: each pixel of the
/// picture is looked up in the page.
@Suite struct TimecodeFinderTests {
    static let code = Timecode(frame: 4711, captureTime: MonotonicTime(nanoseconds: 123_456_789_012))
    typealias Point = CameraQuad.Point

    /// Whether the page is white at a place of its frame, from 0 to 1 each.
    static func isWhite(_ u: Double, _ v: Double, _ code: Timecode) -> Bool {
        let (column, row) = (Int(u * 18) - 1, Int(v * 11) - 1)
        guard (0..<16).contains(column), (0..<9).contains(row) else { return true }
        if row == 0 { return TimecodeLayout.isWhiteReference(column: column) }
        return code.code >> UInt128(TimecodeLayout.bit(column: column, row: row)) & 1 == 1
    }

    /// Draws the page as a camera sees it, with the given corners, and noise from a seed.
    static func film(
        _ corners: [Point], _ size: ImageSize = ImageSize(width: 320, height: 240),
        levels: (black: UInt8, white: UInt8) = (30, 200), noise: Int = 0, code: Timecode = Self.code,
        lamp: (x: Range<Int>, y: Range<Int>)? = nil
    ) throws -> I420Buffer {
        let mapping = try #require(CameraQuad(corners: corners).mapping)
        var rows = [[UInt8]](
            repeating: [UInt8](repeating: levels.black, count: size.width), count: size.height)
        // Dense enough to hit each pixel.
        let steps = max(size.width, size.height) * 3 / 2
        for i in 0..<steps {
            for j in 0..<steps {
                let (u, v) = ((Double(i) + 0.5) / Double(steps), (Double(j) + 0.5) / Double(steps))
                let place = mapping.place(u, v)
                let (x, y) = (Int(place.x), Int(place.y))
                guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { continue }
                rows[y][x] = isWhite(u, v, code) ? levels.white : levels.black
            }
        }
        if let lamp { for y in lamp.y { for x in lamp.x { rows[y][x] = 235 } } }
        var random = SplitMix64(seed: 7)
        var draft = try I420Draft(size: size)
        draft.fill(y: levels.black, u: 128, v: 128)
        let stride = draft.strides[.y]
        var bytes = draft.mutableBytes(of: .y)
        for (y, row) in rows.enumerated() {
            for (x, level) in row.enumerated() {
                let shift = noise > 0 ? Int(random.next() % UInt64(2 * noise + 1)) - noise : 0
                bytes[y * stride + x] = UInt8(clamping: Int(level) + shift)
            }
        }
        return draft.publish()
    }

    static func point(_ x: Double, _ y: Double) -> Point { Point(x: x, y: y) }

    static let upright = [point(40, 30), point(290, 30), point(290, 190), point(40, 190)]
    static let slanted = [point(52, 44), point(281, 21), point(296, 201), point(38, 176)]

    @Test(
        "The code is read in any position: upright, at an angle, upside down, by a quarter turn, mirrored, small",
        arguments: [
            upright, slanted, [2, 3, 0, 1].map { slanted[$0] },
            [point(210, 20), point(210, 220), point(80, 220), point(80, 20)],
            [1, 0, 3, 2].map { slanted[$0] }, [point(100, 80), point(208, 84), point(206, 151), point(98, 148)],
        ])
    func places(corners: [Point]) throws {
        var finder = TimecodeFinder()
        #expect(finder.read(try Self.film(corners)) == Self.code)
    }

    @Test("The code is read despite noise, low contrast and a lamp in the picture")
    func trouble() throws {
        var finder = TimecodeFinder()
        #expect(finder.read(try Self.film(Self.slanted, noise: 40)) == Self.code)
        finder = TimecodeFinder()
        #expect(finder.read(try Self.film(Self.upright, levels: (90, 150), noise: 8)) == Self.code)
        finder = TimecodeFinder()
        let lamp = (x: 2..<30, y: 2..<100)
        #expect(finder.read(try Self.film(Self.upright, lamp: lamp)) == Self.code)
    }

    @Test("The frame is found again when the camera has moved, and a picture without a code gives nil")
    func moves() throws {
        var finder = TimecodeFinder()
        #expect(finder.read(try Self.film(Self.upright)) == Self.code)
        let later = Timecode(frame: 4712, captureTime: MonotonicTime(nanoseconds: 5))
        #expect(finder.read(try Self.film(Self.upright, code: later)) == later)
        #expect(finder.read(try Self.film(Self.slanted, code: later)) == later)
        var plain = try I420Draft(size: ImageSize(width: 320, height: 240))
        plain.fill(y: 235, u: 128, v: 128)
        #expect(finder.read(plain.publish()) == nil)
        plain = try I420Draft(size: ImageSize(width: 8, height: 8))
        plain.fillBlack()
        #expect(finder.read(plain.publish()) == nil)
    }

    @Test("Pictures of pure noise are examined in bounded time, and give nothing")
    func noise() throws {
        var finder = TimecodeFinder()
        for _ in 0..<2 { #expect(finder.read(try Self.film(Self.upright, levels: (120, 121), noise: 120)) == nil) }
    }
}
