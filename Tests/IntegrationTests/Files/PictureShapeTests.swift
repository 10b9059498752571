import Foundation
import ReferenceTools
import Testing

/// Pixel aspect ratios and picture orientation, from the container to what sinks write, compared with ffmpeg.
@Suite(.tags(.encoder), .blocking) struct PictureShapeTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// Ten pictures of 160x120 in which every corner differs.
    private func clip(_ name: String, _ encoder: [String] = ["-c:v", "libx264", "-bf", "0"]) throws -> String {
        let path = folder.path(name)
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10:duration=1"] + encoder
                + ["-pix_fmt", encoder.contains("mjpeg") ? "yuvj420p" : "yuv420p", path])
        return path
    }

    /// The pictures as ffmpeg shows them, rotated and mirrored by default.
    private func shown(_ path: String, as pixelFormat: String = "yuv420p") throws -> Data {
        try ReferenceCommand.ffmpeg([
            "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixelFormat, "-",
        ])
    }

    private func inlet(_ path: String, to sink: String) throws -> Data {
        let run = try InletProcess.run(["run", path, "--to", sink, "--report", "none"])
        #expect(run.status == 0, "\(run.complaints)")
        return run.output
    }

    private func size(_ path: String) throws -> String {
        let output = try ReferenceCommand.run(
            "ffprobe",
            ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0", path])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a display matrix into the header of an MP4's track (ISO/IEC 14496-12, 8.3.2).
    private func setMatrix(_ matrix: [Int32], in path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let box = try #require(bytes.range(of: Data("tkhd".utf8)))
        // The fields in version 0 of the box: flags, times, identifiers, layer, group and volume.
        var place = box.upperBound + 40
        for (index, number) in matrix.enumerated() {
            let unit: Int32 = index % 3 == 2 ? 1 << 30 : 1 << 16
            let bits = UInt32(bitPattern: number * unit)
            let field = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> UInt32($0)) }
            bytes.replaceSubrange(place..<place + 4, with: field)
            place += 4
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Every display matrix without scaling: the first two columns of its rows.
    static let orientations: [[Int32]] = [
        [1, 0, 0, 1], [0, 1, -1, 0], [-1, 0, 0, -1], [0, -1, 1, 0],
        [-1, 0, 0, 1], [1, 0, 0, -1], [0, 1, 1, 0], [0, -1, -1, 0],
    ]

    private func oriented(_ orientation: [Int32], _ name: String, _ encoder: [String]? = nil) throws -> String {
        let path = try encoder.map { try clip(name, $0) } ?? clip(name)
        let (a, b, c, d) = (orientation[0], orientation[1], orientation[2], orientation[3])
        try setMatrix([a, b, 0, c, d, 0, 0, 0, 1], in: path)
        return path
    }

    @Test("Files that cannot carry a rotation get pictures as ffmpeg shows them", arguments: orientations)
    func orientation(_ matrix: [Int32]) throws {
        let path = try oriented(matrix, "a.mp4")
        let expected = try shown(path)
        #expect(try inlet(path, to: "i420:-") == expected)
        let program = folder.path("a.yuv")
        _ = try inlet(path, to: "exec:dd status=none of=\(program)?format=i420")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program)) == expected)
        let y4m = folder.path("a.y4m")
        _ = try inlet(path, to: "y4m:\(y4m)")
        #expect(try shown(y4m) == expected)
        #expect(try size(y4m) == (matrix[0] == 0 ? "120,160" : "160,120"))
    }

    @Test(
        "Packets that are copied to MP4 keep the orientation, and encoded pictures get it",
        arguments: orientations)
    func copied(_ matrix: [Int32]) throws {
        let path = try oriented(matrix, "a.mp4")
        let copy = folder.path("copy.mp4")
        _ = try inlet(path, to: "mp4:\(copy)?codec=copy")
        #expect(try shown(copy) == shown(path))
        let encoded = folder.path("encoded.mkv")
        _ = try inlet(path, to: "mkv:\(encoded)?codec=ffv1")
        #expect(try shown(encoded) == shown(path))
    }

    @Test(
        "Packets that are copied to Matroska keep their rotation, from the header to the index at the end",
        arguments: Array(orientations.prefix(4)))
    func copiedToMatroska(_ matrix: [Int32]) throws {
        let path = try oriented(matrix, "a.mp4")
        let copy = folder.path("copy.mkv")
        _ = try inlet(path, to: "mkv:\(copy)?codec=copy")
        #expect(try shown(copy) == shown(path))
        // ffmpeg would report a wrong checksum, or an element that ends elsewhere.
        let check = try ReferenceCommand.run(
            "bash", ["-c", "ffmpeg -v verbose -err_detect crccheck -i '\(copy)' -f null - 2>&1"])
        let text = String(decoding: check, as: UTF8.self)
        #expect(!text.contains("CRC") && !text.contains("nvalid"), "\(text)")
        let streams = try ReferenceCommand.run("ffprobe", ["-v", "error", "-show_streams", copy])
        #expect(!String(decoding: streams, as: UTF8.self).contains("TAG:title"))
    }

    @Test("Motion JPEG is mirrored by both decoders", arguments: ["ffmpeg", "turbojpeg"])
    func mirroredJPEG(_ decoder: String) throws {
        let path = try oriented([0, 1, 1, 0], "a.mp4", ["-c:v", "mjpeg", "-q:v", "2"])
        let ours = try inlet("file:\(path)?decoder=\(decoder)", to: "i420:-")
        let theirs = try shown(path, as: "yuvj420p")
        try #require(ours.count == theirs.count)
        #expect(FileExactnessTests.psnr(theirs, ours) >= 40)
    }

    /// A clip with pixels twice as wide as high, stated by its container, by its packets, or by both, which disagree.
    private func wide(_ kind: String, _ name: String) throws -> String {
        switch kind {
        case "container":
            let (square, path) = (try clip("square.mp4"), folder.path(name))
            try ReferenceCommand.ffmpeg(["-i", square, "-c", "copy", "-aspect", "8:3", path])
            return path
        case "packets":
            return try clip(name, ["-vf", "setsar=2/1", "-c:v", "libx264"])
        default:
            let (other, path) = (try clip("other.mp4", ["-vf", "setsar=1/2", "-c:v", "libx264"]), folder.path(name))
            try ReferenceCommand.ffmpeg(["-i", other, "-c", "copy", "-aspect", "8:3", path])
            return path
        }
    }

    @Test(
        "The container's pixel aspect ratio overrides that of the packets, as in ffmpeg",
        arguments: ["container", "packets", "both"], ["mp4", "mkv"])
    func pixelShape(_ kind: String, _ container: String) throws {
        let path = try wide(kind, "wide.\(container)")
        let header = try String(decoding: inlet(path, to: "y4m:-").prefix { $0 != 10 }, as: UTF8.self)
        let expected = try String(
            decoding: ReferenceCommand.ffmpeg(["-i", path, "-f", "yuv4mpegpipe", "-"]).prefix { $0 != 10 },
            as: UTF8.self)
        #expect(expected.contains(" A2:1 "))
        #expect(header.contains(" A2:1 "), "\(header)")
    }

    @Test("Stills have square pixels", arguments: ["png", "jpeg"])
    func stills(_ format: String) throws {
        let path = try wide("container", "wide.mkv")
        let still = folder.path("still.\(format)")
        _ = try inlet(path, to: "\(format):\(still)")
        #expect(try size(still) == "320,120")
        let small = folder.path("small.\(format)")
        _ = try inlet(path, to: "\(format):\(small)?max-size=80x80")
        #expect(try size(small) == "80,30")
        let snapshot = folder.path("snapshot.png")
        #expect(try InletProcess.run(["snapshot", path, snapshot]).status == 0)
        #expect(try size(snapshot) == "320,120")
        // The picture matches ffmpeg's with square pixels, not only in size.
        let expected = folder.path("expected.png")
        try ReferenceCommand.ffmpeg([
            "-i", path, "-frames:v", "1", "-vf", "scale=iw*sar:ih:flags=bilinear,setsar=1", expected,
        ])
        func pixels(_ path: String) throws -> Data {
            try ReferenceCommand.ffmpeg(["-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        }
        #expect(try FileExactnessTests.psnr(pixels(snapshot), pixels(expected)) >= 30)
    }
}
