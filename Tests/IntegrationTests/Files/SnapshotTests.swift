import Foundation
import ReferenceTools
import Testing

/// `inlet snapshot`, compared with ffmpeg on the same source.
@Suite(.tags(.encoder), .blocking) struct SnapshotTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// ffmpeg's RGB of the first picture that passes the filters.
    private func rgb(_ path: String, _ filters: String = "null") throws -> Data {
        try ReferenceCommand.ffmpeg([
            "-i", path, "-sws_flags", "bicubic+accurate_rnd+full_chroma_int", "-vf", filters, "-frames:v", "1", "-f",
            "rawvideo", "-pix_fmt", "rgb24", "-",
        ])
    }

    private func snapshot(_ arguments: String...) throws -> InletProcess {
        try InletProcess.run(["snapshot"] + arguments)
    }

    @Test(
        "A snapshot is the first picture, as ffmpeg decodes it",
        arguments: [
            ("a.png", "h264-b.mp4", 45), ("a.jpg", "h264-b.mp4", 36), ("a.JPEG", "hevc-10bit.mp4", 36),
        ] as [(String, String, Double)])
    func first(_ name: String, _ clip: String, _ quality: Double) throws {
        let clip = try TestClips.path(clip)
        let inlet = try snapshot(clip, folder.path(name))
        #expect(inlet.status == 0, "\(inlet.complaints)")
        #expect(inlet.complaints.isEmpty && inlet.output.isEmpty)
        let (ours, theirs) = try (rgb(folder.path(name)), rgb(clip))
        try #require(ours.count == theirs.count)
        let psnr = FileExactnessTests.psnr(ours, theirs)
        #expect(psnr >= quality, "\(psnr) dB")
        // The next picture differs.
        #expect(FileExactnessTests.psnr(ours, try rgb(clip, "select=eq(n\\,15)")) < quality)
    }

    @Test("A picture after a time is the one at that time, and a size is respected")
    func later() throws {
        let clip = try TestClips.path("h264-b.mp4")
        let inlet = try snapshot(clip, folder.path("a.png"), "--after", "500ms", "--size", "160x160")
        #expect(inlet.status == 0, "\(inlet.complaints)")
        let ours = try rgb(folder.path("a.png"))
        func psnr(_ number: Int) throws -> Double {
            let theirs = try rgb(clip, "select=eq(n\\,\(number)),scale=160:120:flags=area,format=yuv420p")
            try #require(ours.count == theirs.count)
            return FileExactnessTests.psnr(ours, theirs)
        }
        // 15 pictures are half a second.
        let best = try psnr(15)
        #expect(best >= 45, "\(best) dB")
        for number in [0, 14, 16] { #expect(try psnr(number) < best) }
    }

    @Test("A contact sheet has pictures from the whole length in order")
    func contactSheet() throws {
        let clip = try TestClips.path("h264-b.mp4")
        let inlet = try snapshot(clip, folder.path("a.png"), "--contact-sheet", "3x2", "--size", "480x240")
        #expect(inlet.status == 0, "\(inlet.complaints)")
        let ours = try rgb(folder.path("a.png"))
        func psnr(_ filter: String) throws -> Double {
            let theirs = try rgb(clip, "select=\(filter),scale=160:120:flags=area,tile=3x2,format=yuv420p")
            try #require(ours.count == theirs.count)
            return FileExactnessTests.psnr(ours, theirs)
        }
        let best = try psnr("not(mod(n\\,5))")
        #expect(best >= 45, "\(best) dB")
        #expect(try psnr("not(mod(n+1\\,5))") < best)
        #expect(try psnr("not(mod(n\\,4))") < best)
    }

    @Test("A contact sheet of an endless source has a picture per --every, and black if the source ends early")
    func contactSheetOfCamera() throws {
        let source = "pattern:gradient?size=64x48&fps=10&frames=30&pace=none"
        let inlet = try snapshot(
            source, folder.path("a.png"), "--contact-sheet", "2x2", "--size", "128x96", "--every", "1s")
        #expect(inlet.status == 0, "\(inlet.complaints)")
        let sheet = try [UInt8](rgb(folder.path("a.png")))
        try #require(sheet.count == 128 * 96 * 3)
        func mean(_ x: Int, _ y: Int) -> Int {
            var sum = 0
            for row in y..<y + 48 {
                for value in sheet[(row * 128 + x) * 3..<(row * 128 + x + 64) * 3] { sum += Int(value) }
            }
            return sum / (48 * 64 * 3)
        }
        #expect(mean(0, 0) > 20 && mean(64, 0) > 20 && mean(0, 48) > 20)
        #expect(mean(64, 48) == 0)
    }

    @Test("An existing file is kept unless --overwrite is given")
    func overwriting() throws {
        let path = folder.path("a.png")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        let refused = try snapshot("pattern:smpte?frames=1", path)
        #expect(refused.status == 75)
        #expect(refused.complaints.contains("Add --overwrite"), "\(refused.complaints)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
        #expect(try snapshot("pattern:smpte?frames=1", path, "--overwrite").status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: [0x89, 0x50]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["a.png"])
    }

    @Test("A name is used as the file's name, whatever characters it has")
    func literalName() throws {
        #expect(try snapshot("pattern:smpte?frames=1", folder.path("{n} 100%d.jpg")).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["{n} 100%d.jpg"])
    }

    @Test("A source without a picture in time is given up, and leaves no file")
    func silence() throws {
        _ = try ReferenceCommand.run("mkfifo", [folder.path("fifo")])
        let inlet = try snapshot(folder.path("fifo"), folder.path("a.jpg"), "--timeout", "300ms")
        #expect(inlet.status == 75)
        #expect(inlet.complaints.contains("No frame came for 0.3 seconds"), "\(inlet.complaints)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["fifo"])
    }

    @Test(
        "A snapshot that cannot work gives a clear message and the right exit code",
        arguments: [
            (["pattern:smpte", "a.gif"], 64, ".jpg, .jpeg or .png"),
            (["pattern:smpte", "a"], 64, ".jpg, .jpeg or .png"),
            (["pattern:smpte", "a.jpg", "--quality", "0"], 64, "1 to 100"),
            (["pattern:smpte", "a.jpg", "--contact-sheet", "65x1"], 64, "1x1 to 64x64"),
            (["pattern:smpte", "a.jpg", "--every", "1s"], 64, "requires --contact-sheet"),
            (["pattern:smpte", "a.jpg", "--timeout", "0"], 64, "above zero"),
            (["/nonexistent.mp4", "a.jpg"], 66, "does not exist"),
            (["pattern:smpte?frames=2", "a.jpg", "--after", "5s"], 65, "within the time of --after"),
            (["pattern:smpte?frames=2", "/nonexistent/a.jpg"], 74, "create it first"),
            (["pattern:smpte?frames=2", "/sys/a.png"], 77, "refuses access"),
        ] as [([String], Int32, String)])
    func trouble(_ arguments: [String], _ status: Int32, _ message: String) throws {
        let inlet = try InletProcess.run(["snapshot"] + arguments)
        #expect(inlet.status == status)
        #expect(inlet.complaints.contains(message), "\(inlet.complaints)")
    }
}
