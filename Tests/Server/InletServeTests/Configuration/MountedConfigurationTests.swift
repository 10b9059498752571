import Foundation
import ReferenceTools
import Testing

/// A configuration that is mounted by itself, as containers do.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 2)) struct MountedConfigurationTests {
    private static let canMount: Bool = {
        guard let folder = try? TemporaryFolder(),
            (try? ReferenceCommand.run("mount", ["-t", "tmpfs", "-o", "size=1m", "none", folder.path("")])) != nil
        else { return false }
        return (try? ReferenceCommand.run("umount", [folder.path("")])) != nil
    }()

    @Test(
        "A file that is replaced below its mount is reported, as the daemon still sees the former one",
        .enabled("mounting takes root") { canMount })
    func replaced() async throws {
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess("cameras:\n  door: pattern:ball?size=64x64&fps=5\n")
        let (outside, new) = (folder.path("cameras.yaml"), folder.path("new.yaml"))
        let text = try String(contentsOfFile: serve.configuration, encoding: .utf8)
        try text.write(toFile: outside, atomically: false, encoding: .utf8)
        try (text + "  gate: pattern:ball?size=64x64&fps=5\n").write(toFile: new, atomically: false, encoding: .utf8)
        _ = try ReferenceCommand.run("mount", ["--bind", outside, serve.configuration])
        defer { _ = try? ReferenceCommand.run("umount", ["-l", serve.configuration]) }
        // The daemon sees a change within the file itself.
        let handle = try #require(FileHandle(forWritingAtPath: outside))
        _ = try handle.seekToEnd()
        try handle.write(contentsOf: Data("  yard: pattern:ball?size=64x64&fps=5\n".utf8))
        try handle.close()
        _ = try await serve.camera("yard") { $0.captured > 0 }
        #expect(!serve.complaints.contains("Mount the file's folder"))
        _ = try ReferenceCommand.run("mv", [new, outside])
        let events = try await ReferenceCommand.runAside(
            "bash",
            [
                "-c", "curl -sN -m 60 -H \"authorization: Bearer $1\" \"$2/v1/events\" | grep -m 1 configuration-stale",
                "events", ServeProcess.admin, serve.address,
            ])
        #expect(String(decoding: events, as: UTF8.self).contains("Mount the file's folder instead"))
        #expect(serve.complaints.contains("Mount the file's folder instead"), "\(serve.complaints)")
        #expect(await serve.end() == 0)
    }
}
