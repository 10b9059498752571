import Foundation
import InletCore
import InletPluginLoader
import ReferenceTools
import Testing

extension PluginProcessTests {
    /// Compatibility of programs compiled with different versions of `inlet_plugin.h`.
    @Suite struct HeaderVersionTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// Compiles a file of the package with the header in a folder.
        private func compile(
            _ source: String, to name: String, with header: String, asProgram: Bool = false
        ) throws -> String {
            let path = folder.path(name)
            let kind = asProgram ? ["-pthread"] : ["-fPIC", "-fvisibility=hidden", "-shared"]
            try ReferenceCommand.run(
                "cc",
                ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I\(header)", "-o", path]
                    + kind + [URL(fileURLWithPath: source, relativeTo: BuiltProgram.package).path])
            return path
        }

        private func run(_ program: String, _ arguments: [String] = []) throws -> [String] {
            let output = try ReferenceCommand.run("timeout", ["60", program] + arguments)
            return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        /// Returns the folder of a header with a later minor version.
        private func later() throws -> String {
            let path = folder.path("later")
            try PluginHeader(in: PluginHeader.present).grown.write(to: path)
            return path
        }

        @Test("Every field of version 1.0 keeps its offset, and every name its value")
        func layout() throws {
            let first = try PluginHeader(in: PluginHeader.first)
            #expect(first.structs.count > 15)
            #expect(first.structs.allSatisfy { !$0.fields.isEmpty })
            #expect(first.numbers.count > 30)
            #expect(first.ids.count == 3)
            let source = folder.path("layout.c")
            try Data(first.layoutProgram.utf8).write(to: URL(fileURLWithPath: source))
            func lines(_ header: String, _ name: String) throws -> [String] {
                try run(compile(source, to: name, with: header, asProgram: true))
            }
            let frozen = try lines(PluginHeader.first.path, "layout-first")
            #expect(frozen.contains("inlet_item.picture at 56, 192 long"))
            #expect(try lines(PluginHeader.present.path, "layout-present") == frozen)
            // The same holds for a version with larger structs.
            #expect(try lines(later(), "layout-later") == frozen)
        }

        @Test("A field that is inserted before others is noticed")
        func layoutChange() throws {
            let first = try PluginHeader(in: PluginHeader.first)
            let changed = folder.path("changed")
            try FileManager.default.createDirectory(atPath: changed, withIntermediateDirectories: true)
            let field = "    uint32_t wants_packets;"
            let text = first.text.replacing(field, with: "    uint64_t new;\n" + field)
            #expect(text != first.text)
            try Data(text.utf8).write(to: URL(fileURLWithPath: changed + "/inlet_plugin.h"))
            let source = folder.path("layout.c")
            try Data(first.layoutProgram.utf8).write(to: URL(fileURLWithPath: source))
            let frozen = try run(compile(source, to: "a", with: PluginHeader.first.path, asProgram: true))
            #expect(try run(compile(source, to: "b", with: changed, asProgram: true)) != frozen)
        }

        @Test(
            "A plug-in of version 1.0 gives the same to a host of a later minor version as to its own",
            arguments: [
                ("Samples/CSource/bars.c", ["size=64x48", "rate=500"]), ("Tests/TestPlugins/lender.c", []),
                ("Samples/PacketSource/annexb.c", ["rate=240", "repeat=true"]),
            ])
        func laterHost(source: String, options: [String]) throws {
            let clip = folder.path("clip.h264")
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25", "-frames:v", "8", "-c:v", "libx264", "-bf", "0",
                clip,
            ])
            let plugin = try compile(source, to: "plugin.so", with: PluginHeader.first.path)
            func items(_ header: String, _ name: String) throws -> [String] {
                let driver = try compile("Tests/TestPlugins/driver.c", to: name, with: header, asProgram: true)
                // Removes the lines that differ between runs.
                return try run(driver, [plugin, clip, "20"] + options).filter { !$0.hasPrefix("close-ms") }
                    .map { $0.replacing(#/ age-ms -?\d+/#, with: "") }
            }
            let own = try items(PluginHeader.first.path, "driver-first")
            #expect(own.count { $0.contains(" sequence ") } >= 20, "\(own)")
            #expect(try items(later(), "driver-later") == own)
        }

        @Test("A plug-in built with a later header, whose additions it does not need, runs", arguments: [false, true])
        func laterPlugin(isInProcess: Bool) throws {
            let library = try compile("Samples/CSource/bars.c", to: "bars.so", with: later())
            let run = try SourceRun(
                PluginSourceConfiguration(
                    program: PluginProgram(
                        name: "bars", code: .library(library), hostPath: BuiltProgram.plainPluginHost),
                    isInProcess: isInProcess, scheme: "bars", address: "",
                    options: [("size", "64x48"), ("rate", "500")],
                    redactedURI: "bars:"))
            let format = try run.open()
            for index in 0..<5 {
                let frame = try #require(try run.frame())
                #expect(CompiledSourceTests.samples(of: frame) == CompiledSourceTests.bars(index, format.size))
            }
            run.close()
        }

        @Test("The layout is the same on x86-64 and arm64, and would differ on a 32-bit machine")
        func processors() throws {
            // Doesn't need the C library headers of the other machine: clang's headers replace them.
            func check(_ target: String) throws {
                try ReferenceCommand.run(
                    "clang",
                    [
                        "--target=\(target)", "-std=c11", "-ffreestanding", "-fsyntax-only", "-Wall", "-Wextra",
                        "-Werror", "-I\(PluginHeader.present.path)",
                        BuiltProgram.package.appending(path: "Sources/C/CInletPlugin/layout.c").path,
                    ])
            }
            try check("x86_64-linux-gnu")
            try check("aarch64-linux-gnu")
            let error = #expect(throws: ReferenceCommand.Failure.self) { try check("armv7-linux-gnueabihf") }
            #expect(error?.description.contains("static assertion failed") == true)
        }
    }
}
