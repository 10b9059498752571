import Foundation
import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import Testing

@Suite(.blocking) struct PatternPicturesTests {
    /// The first frame of a pattern.
    private func picture(_ pattern: TestPattern, _ size: ImageSize, color: PatternColor = .yuv(y: 1, u: 2, v: 3)) throws
        -> I420Buffer
    {
        let run = try PatternRun(PatternConfiguration(pattern, size: size, frames: 1, pace: .unpaced, color: color))
        return try PatternRun.picture(#require(try run.next()))
    }

    @Test(
        "every pattern writes every pixel of every size",
        arguments: TestPattern.allCases,
        [
            ImageSize(width: 16, height: 16), ImageSize(width: 17, height: 33), ImageSize(width: 64, height: 65),
            ImageSize(width: 721, height: 723), ImageSize(width: 8192, height: 16), ImageSize(width: 16, height: 8192),
        ])
    func wholePicture(pattern: TestPattern, size: ImageSize) throws {
        guard pattern != .timecode || TimecodeLayout.leastSize <= size else { return }
        // Fresh memory is zero, and no pattern uses that level.
        #expect(try !picture(pattern, size).packedBytes.contains(0))
    }

    /// The largest difference between a pattern and FFmpeg's picture at the given points, in luma coordinates.
    private func difference(_ ours: I420Buffer, _ theirs: I420Buffer, at points: [(Int, Int)]) -> Int {
        points.map { x, y in
            max(
                abs(Int(ours.row(y, of: .y)[x]) - Int(theirs.row(y, of: .y)[x])),
                abs(Int(ours.row(y / 2, of: .u)[x / 2]) - Int(theirs.row(y / 2, of: .u)[x / 2])),
                abs(Int(ours.row(y / 2, of: .v)[x / 2]) - Int(theirs.row(y / 2, of: .v)[x / 2])))
        }.max() ?? 255
    }

    @Test("standard-definition bars have FFmpeg's smptebars levels", arguments: [(720, 576), (720, 480), (320, 240)])
    func standardDefinitionBars(width: Int, height: Int) throws {
        let size = ImageSize(width: width, height: height)
        let ours = try picture(.smpte, size)
        let theirs = try ReferencePictures(lavfi: "smptebars=size=\(size)", size: size, frames: 1).packed(0)
        let bars = (0..<7).map { (2 * $0 + 1) * width / 14 }
        #expect(difference(ours, theirs, at: bars.map { ($0, height / 3) }) <= 1)
        // The castellations in colour. FFmpeg raises the black ones between them to 19.
        #expect(difference(ours, theirs, at: [0, 2, 4, 6].map { (bars[$0], height * 17 / 24) }) <= 1)
        #expect(difference(ours, theirs, at: [1, 3, 5].map { (bars[$0], height * 17 / 24) }) <= 3)
        // White, black, and the three of PLUGE, in the bottom row.
        let bottom = [45, 105, 124, 132, 140, 156].map { ($0 * width / 168, height * 7 / 8) }
        #expect(difference(ours, theirs, at: bottom) <= 1)
        // -I and +Q: FFmpeg adds luma to keep them within RGB, so that only chroma can be compared.
        for (column, u, v) in [(15, 156, 97), (75, 171, 147)] {
            let x = column * width / 168
            #expect(abs(Int(ours.row(height * 7 / 16, of: .u)[x / 2]) - u) <= 1)
            #expect(abs(Int(ours.row(height * 7 / 16, of: .v)[x / 2]) - v) <= 1)
            #expect(theirs.row(height * 7 / 16, of: .u)[x / 2] == UInt8(u))
            #expect(theirs.row(height * 7 / 16, of: .v)[x / 2] == UInt8(v))
        }
    }

    @Test("high-definition bars have FFmpeg's smptehdbars levels", arguments: [(1280, 720), (1920, 1080)])
    func highDefinitionBars(width: Int, height: Int) throws {
        let size = ImageSize(width: width, height: height)
        let ours = try picture(.smpte, size)
        let theirs = try ReferencePictures(lavfi: "smptehdbars=size=\(size)", size: size, frames: 1).packed(0)
        let top = [10] + (0..<7).map { 30 + 18 * $0 } + [157]
        var points = top.map { ($0 * width / 168, height / 3) }
        // Cyan, 75 % white and blue; yellow and red; then the bottom row. Between them FFmpeg has -I and +Q, and this
        // pattern white and black.
        points += [10, 90, 157].map { ($0 * width / 168, height * 15 / 24) }
        points += [10, 157].map { ($0 * width / 168, height * 17 / 24) }
        points += [10, 34, 66, 91, 102, 108, 114, 120, 126, 138, 157].map { ($0 * width / 168, height * 7 / 8) }
        #expect(difference(ours, theirs, at: points) <= 1)
    }

    @Test("the ramp of high-definition bars rises from black to white")
    func ramp() throws {
        let size = ImageSize(width: 1680, height: 720)
        let bars = try picture(.smpte, size)
        let row = bars.row(720 * 17 / 24, of: .y)
        #expect(row[390] == 16)
        #expect(row[1469] == 235)
        for column in 391..<1470 { #expect(row[column] >= row[column - 1] && row[column] <= row[column - 1] + 1) }
    }

    @Test(
        "pictures equal those of FFmpeg's geq filter within one level",
        arguments: [
            (TestPattern.gradient, "16+219*X/(W-1)", "240-224*Y/(H-1)", "16+224*Y/(H-1)"),
            (.checkerboard, "if(mod(floor(X/S)+floor(Y/S),2),16,235)", "128", "128"),
            (.zone, "125.5+109.5*cos(PI*((X-(W-1)/2)^2+(Y-(H-1)/2)^2)/min(W,H))", "128", "128"),
        ], [ImageSize(width: 320, height: 240), ImageSize(width: 161, height: 123)])
    func formulas(formulas: (TestPattern, String, String, String), size: ImageSize) throws {
        let (pattern, luma, u, v) = formulas
        let side = min(size.width, size.height) / 8
        let y = luma.replacingOccurrences(of: "S", with: "\(side)")
        let theirs = try ReferencePictures(
            lavfi: "nullsrc=size=\(size),format=yuv420p,geq=lum='\(y)':cb='\(u)':cr='\(v)'", size: size, frames: 1)
        let ours = try picture(pattern, size).packedBytes
        let largest = zip(ours, theirs.bytes).map { abs(Int($0) - Int($1)) }.max()
        // The zone plate's angles have 12 bits: up to 0.17 levels off.
        #expect(largest == 0 || largest == 1)
    }

    @Test("a solid colour is used unchanged, or converted with the matrix of the picture's size")
    func solid() throws {
        func pixel(_ color: PatternColor, height: Int) throws -> [UInt8] {
            let picture = try picture(.solid, ImageSize(width: 64, height: height), color: color)
            return I420Buffer.Plane.allCases.map { picture.row(5, of: $0)[5] }
        }
        #expect(try pixel(.yuv(y: 9, u: 250, v: 0), height: 48) == [9, 250, 0])
        // Full red by BT.601 and BT.709: the primaries of FFmpeg's smptebars and smptehdbars at 100 %.
        #expect(try pixel(.rgb(red: 255, green: 0, blue: 0), height: 576) == [81, 90, 240])
        #expect(try pixel(.rgb(red: 255, green: 0, blue: 0), height: 720) == [63, 102, 240])
        #expect(try pixel(.rgb(red: 255, green: 255, blue: 255), height: 720) == [235, 128, 128])
        #expect(try pixel(.rgb(red: 0, green: 0, blue: 0), height: 48) == [16, 128, 128])
    }

    @Test("the ball stays whole within the picture and comes near every edge")
    func ball() throws {
        let size = ImageSize(width: 97, height: 64)
        let run = try PatternRun(PatternConfiguration(.ball, size: size, frames: 600, pace: .unpaced, seed: 7))
        var columns = (least: Int.max, greatest: 0)
        var rows = (least: Int.max, greatest: 0)
        var areas: Set<Int> = []
        while let frame = try run.next() {
            let picture = try PatternRun.picture(frame)
            var area = 0
            for y in 0..<size.height {
                let row = picture.row(y, of: .y)
                for x in 0..<size.width where row[x] == 160 {
                    area += 1
                    columns = (min(columns.least, x), max(columns.greatest, x))
                    rows = (min(rows.least, y), max(rows.greatest, y))
                }
            }
            areas.insert(area)
        }
        #expect(areas.count == 1)
        #expect(abs((areas.first ?? 0) - Int(Double.pi * 8 * 8)) <= 8)
        #expect(columns.least <= 2 && columns.greatest >= size.width - 3)
        #expect(rows.least <= 2 && rows.greatest >= size.height - 3)
    }
}
