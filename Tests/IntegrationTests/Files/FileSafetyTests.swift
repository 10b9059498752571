import Foundation
import ReferenceTools
import Testing

/// The permissions of the files that the built program writes, and the targets to which it refuses to write.
@Suite(.blocking) struct FileSafetyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Every way to make a file, as arguments of `inlet`, with `FILE` for the path.
    static let makers = [
        "run SOURCE --to y4m:FILE", "run SOURCE --to i420:FILE", "run SOURCE --to framemd5:FILE",
        "run SOURCE --to mp4:FILE", "run SOURCE --to mkv:FILE", "run SOURCE --to webm:FILE", "run SOURCE --to ts:FILE",
        "run SOURCE --to jpeg:FILE", "run SOURCE --to png:FILE", "run CLIP --to mp4:FILE?codec=copy",
        "run SOURCE --trace FILE", "snapshot SOURCE FILE.png",
    ]

    private func run(_ maker: String, _ path: String, _ option: String = "") throws -> InletProcess {
        var words = maker.split(separator: " ").map(String.init)
        for index in words.indices {
            words[index] = words[index].replacing("SOURCE", with: "pattern:ball?size=64x48&frames=40&pace=none")
            if words[index] == "CLIP" { words[index] = try TestClips.path("h264-b.mp4") }
            if words[index].contains("FILE") {
                words[index] = words[index].replacing("FILE", with: path)
                guard !option.isEmpty, words[index].contains(":") else { continue }
                words[index] += (words[index].contains("?") ? "&" : "?") + option
            }
        }
        return try InletProcess.run(words + (words[0] == "run" ? ["--report", "none"] : []))
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The name that the maker gives to the file.
    private func name(_ maker: String, _ path: String) -> String { maker.hasSuffix(".png") ? path + ".png" : path }

    @Test("Files are readable by their owner only", arguments: makers)
    func modes(_ maker: String) throws {
        let path = folder.path("file")
        let inlet = try run(maker, path)
        #expect(inlet.status == 0, "\(inlet.complaints)")
        #expect(try mode(name(maker, path)) == 0o600)
        guard maker.contains(":FILE") else { return }
        #expect(try run(maker, folder.path("other"), "mode=640").status == 0)
        #expect(try mode(folder.path("other")) == 0o640)
        let refused = try run(maker, folder.path("third"), "mode=755")
        #expect(refused.status == 64)
        #expect(refused.complaints.contains("600 to 666"), "\(refused.complaints)")
    }

    @Test("A symbolic link redirects no output, and its target stays unchanged", arguments: makers)
    func links(_ maker: String) throws {
        let (path, target) = (folder.path("file"), folder.path("target"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(atPath: name(maker, path), withDestinationPath: target)
        let inlet = try run(maker, path)
        #expect([64, 75].contains(inlet.status), "\(inlet.complaints)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("mine".utf8))
    }

    @Test("A link to a pipe is refused at once, and so is the pipe", arguments: makers.filter { !$0.contains("png") })
    func pipes(_ maker: String) throws {
        guard !maker.contains("jpeg:") else { return }
        let (path, pipe) = (folder.path("file"), folder.path("pipe"))
        _ = try ReferenceCommand.run("mkfifo", [pipe])
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: pipe)
        let linked = try run(maker, path)
        #expect(linked.status == 64, "\(linked.complaints)")
        #expect(linked.complaints.contains("symbolic link"), "\(linked.complaints)")
        // The pipe has no reader.
        #expect([64, 66, 74].contains(try run(maker, pipe).status))
    }

    @Test("The folder, the playlist and the segments of HLS are readable by their owner only")
    func hls() throws {
        let live = folder.path("live")
        let source = ["run", "pattern:ball?size=64x48&frames=150&pace=none", "--report", "none", "--to"]
        for (option, file, directory) in [("", 0o600, 0o700), ("&mode=644", 0o644, 0o755)] {
            #expect(try InletProcess.run(source + ["hls:\(live)?segment=1s&gop=1s\(option)"]).status == 0)
            #expect(try mode(live) == directory)
            let names = try FileManager.default.contentsOfDirectory(atPath: live)
            #expect(names.contains("index.m3u8") && names.filter { $0.hasSuffix(".ts") }.count >= 3, "\(names)")
            for name in names { #expect(try mode("\(live)/\(name)") == file) }
            try FileManager.default.removeItem(atPath: live)
        }
        // The temporary file to which a playlist is written first.
        try FileManager.default.createDirectory(atPath: live, withIntermediateDirectories: false)
        let target = folder.path("target")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
        for name in ["index.m3u8", "index.m3u8.tmp"] {
            try FileManager.default.createSymbolicLink(atPath: "\(live)/\(name)", withDestinationPath: target)
        }
        let inlet = try InletProcess.run(source + ["hls:\(live)"])
        #expect(inlet.status == 64)
        #expect(inlet.complaints.contains("symbolic link"), "\(inlet.complaints)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("mine".utf8))
    }

    @Test("Devices and descriptors can be written by their names in /dev")
    func devices() throws {
        for sink in ["y4m:/dev/null", "mkv:/dev/null"] {
            #expect(try InletProcess.run(["run", "pattern:ball?frames=3&pace=none", "--to", sink]).status == 0)
        }
        for sink in ["y4m:/dev/stdout", "y4m:/dev/fd/1", "y4m:-"] {
            let inlet = try InletProcess.run(["run", "pattern:ball?size=16x16&frames=3&pace=none", "--to", sink])
            #expect(inlet.output.starts(with: Data("YUV4MPEG2 W16 H16".utf8)))
            #expect(inlet.output.count > 3 * 16 * 16 * 3 / 2)
        }
    }

    @Test(
        "A file whose name cannot be removed is truncated if this user owns it, and refused otherwise",
        .enabled(if: canMount, "mounting takes root"))
    func boundFile() throws {
        // The file is like a host's file that is mounted in a container.
        let (outside, inside, script) = (folder.path("outside"), folder.path("inside"), folder.path("script"))
        for path in [outside, inside] { try Data(repeating: 7, count: 1_000_000).write(to: URL(fileURLWithPath: path)) }
        let lines = """
            mount --bind '\(outside)' '\(inside)'
            exec "$INLET" run 'pattern:ball?size=64x48&frames=3&pace=none' --report none --to "$1:\(inside)"
            """
        try Data(lines.utf8).write(to: URL(fileURLWithPath: script))
        for scheme in ["y4m", "mkv"] {
            let inlet = try InletProcess.shell("unshare --mount sh '\(script)' \(scheme)")
            #expect(inlet.status == 0, "\(inlet.complaints)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: outside)).count < 100_000)
            #expect(try mode(outside) == 0o600)
        }
        _ = try ReferenceCommand.run("chown", ["nobody", outside])
        let refused = try InletProcess.shell("unshare --mount sh '\(script)' y4m")
        #expect(refused.status == 77, "\(refused.complaints)")
    }

    private static let canMount = (try? ReferenceCommand.run("unshare", ["--mount", "true"])) != nil
}
