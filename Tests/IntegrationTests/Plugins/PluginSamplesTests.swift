import Foundation
import ReferenceTools
import Testing

/// The plug-in samples, built as their READMEs describe. The command that runs them has no built-in knowledge of them.
@Suite(.blocking) struct PluginSamplesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["", "plugins", "home"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
        }
    }

    private func inlet(_ arguments: [String]) throws -> (status: Int32, lines: FrameLines, complaints: String) {
        let environment = [
            "INLET_PLUGIN_PATH": folder.path("plugins"), "HOME": folder.path("home"),
            "XDG_CACHE_HOME": folder.path("home"),
        ]
        let result = try InletProcess.run(arguments, environment: environment)
        return (result.status, FrameLines(result.output), result.complaints)
    }

    /// Copies files of the package into the plug-in folder, as an installation does.
    private func install(_ files: [String]) throws {
        for file in files {
            let copy = folder.path("plugins/\((file as NSString).lastPathComponent)")
            try FileManager.default.copyItem(atPath: BuiltProgram.package.appending(path: file).path, toPath: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
        }
    }

    private func compile(_ source: String) throws {
        let package = BuiltProgram.package.path
        let name = ((source as NSString).lastPathComponent as NSString).deletingPathExtension
        _ = try ReferenceCommand.run(
            "cc",
            [
                "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", "\(package)/Sources/C/CInletPlugin/include",
                "-fPIC", "-fvisibility=hidden", "-shared", "-o", folder.path("plugins/\(name).so"),
                "\(package)/\(source)",
            ])
    }

    @Test("A source in C gives the same pictures in a separate process and in the command's process")
    func bars() throws {
        try compile("Samples/CSource/bars.c")
        try install(["Samples/CSource/bars.inlet.json"])
        let run = ["run", "bars:?size=162x90&rate=100", "--frames", "5", "--report", "none", "--to", "framemd5:-"]
        let own = try inlet(run)
        #expect(own.status == 0 && own.lines.lines.count == 5, "\(own.complaints)")
        #expect(Set(own.lines.lines.map(\.md5)).count > 1)
        let inside = try inlet(run + ["--in-process", "bars"])
        #expect(inside.status == 0, "\(inside.complaints)")
        #expect(inside.lines.lines.map(\.md5) == own.lines.lines.map(\.md5))
    }

    @Test("ffmpeg finds its own colour bars in the pictures that the command takes from the C source")
    func colors() throws {
        try compile("Samples/CSource/bars.c")
        try install(["Samples/CSource/bars.inlet.json"])
        let (file, width, height, frames) = (folder.path("bars.y4m"), 320, 240, 3)
        let run = try inlet([
            "run", "bars:?size=\(width)x\(height)&rate=100", "--frames", "\(frames)", "--report", "none", "--to",
            "y4m:\(file)",
        ])
        #expect(run.status == 0, "\(run.complaints)")
        let facts = try ReferenceCommand.run(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-show_entries",
                "stream=width,height,pix_fmt,r_frame_rate,nb_read_frames",
                "-of", "csv=p=0", file,
            ])
        #expect(String(decoding: facts, as: UTF8.self) == "\(width),\(height),yuv420p,100/1,\(frames)\n")
        func samples(_ input: [String]) throws -> [UInt8] {
            Array(try ReferenceCommand.ffmpeg(input + ["-pix_fmt", "yuv420p", "-f", "rawvideo", "-"]))
        }
        let length = width * height * 3 / 2
        let own = try samples(["-i", file])
        let reference = try samples(["-f", "lavfi", "-i", "pal75bars=size=\(width)x\(height)", "-frames:v", "1"])
        try #require(own.count == frames * length && reference.count == length)
        for frame in 0..<frames {
            // The rows of a plane, and its bars except the first, which is brighter in PAL's.
            for (start, stride, rows) in [
                (0, width, height), (width * height, width / 2, height / 2),
                (width * height * 5 / 4, width / 2, height / 2),
            ] {
                for row in 0..<rows where start > 0 || row != frame {
                    let bars = start + row * stride + stride / 8..<start + (row + 1) * stride
                    #expect(
                        own[frame * length..<(frame + 1) * length].dropFirst(bars.lowerBound).prefix(bars.count)
                            .elementsEqual(reference[bars]))
                }
            }
            // The line, which moves by a row per picture.
            #expect(own[frame * length + frame * width..<frame * length + (frame + 1) * width].allSatisfy { $0 == 235 })
            #expect(own[frame * length + 10 * width] == 180)
        }
    }

    @Test("Packets of a plug-in are decoded as ffmpeg decodes the file, and the plug-in may read only that file")
    func packets() throws {
        try compile("Samples/PacketSource/annexb.c")
        try install(["Samples/PacketSource/annexb.inlet.json"])
        let clip = folder.path("clip.h264")
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=162x90:rate=25", "-frames:v", "12", "-pix_fmt", "yuv420p", "-c:v",
            "libx264", "-bf", "0", "-g", "6", "-y", clip,
        ])
        let run = try inlet([
            "run", "annexb:?file=\(clip)&rate=100", "--report", "none", "--to", "framemd5:-", "--queue", "lossless",
        ])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(run.lines.lines.map(\.md5) == (try FrameLines.ffmpeg(clip)).lines.map(\.md5))
    }

    @Test(
        "Packets of a plug-in that states no size are recorded unchanged",
        arguments: [[], ["--in-process", "annexb"]])
    func recording(place: [String]) throws {
        try compile("Samples/PacketSource/annexb.c")
        try install(["Samples/PacketSource/annexb.inlet.json"])
        let (clip, copy) = (folder.path("clip.h264"), folder.path("copy.mkv"))
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=162x90:rate=25", "-frames:v", "30", "-pix_fmt", "yuv420p", "-c:v",
            "libx264", "-bf", "0", "-g", "6", "-y", clip,
        ])
        let run = try inlet(
            ["run", "annexb:?file=\(clip)&rate=100", "--report", "none", "--to", "mkv:\(copy)?codec=copy"] + place)
        #expect(run.status == 0, "\(run.complaints)")
        #expect(try FrameLines.ffmpeg(copy).lines.map(\.md5) == FrameLines.ffmpeg(clip).lines.map(\.md5))
    }

    @Test("A source in Python runs as a command, in the same sandbox")
    func python() throws {
        try install([
            "Samples/PythonSource/spectrum.inlet.json", "Samples/PythonSource/spectrum.py",
            "Python/inlet_plugin/inlet_plugin.py",
        ])
        let run = try inlet([
            "run", "spectrum:?size=160x90&rate=100", "--frames", "5", "--report", "none", "--to", "framemd5:-",
        ])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(Set(run.lines.lines.map(\.md5)).count == 5)
    }

    @Test("The Python package matches the C headers and the protocol")
    func pythonPackage() throws {
        _ = try ReferenceCommand.run(
            "timeout",
            [
                "300", "/usr/bin/python3", "-B", "-m", "unittest", "discover",
                BuiltProgram.package.appending(path: "Tests/PythonPlugin").path,
            ])
    }
}
