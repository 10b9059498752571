import Foundation
import Inlet
import ReferenceTools
import Testing

/// Outputs that cannot work: the error's code, the command's exit code, and a message that tells the user what to do.
@Suite(.tags(.encoder), .blocking) struct OutputTroubleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var sink: String
        var code: InletError.Code
        var status: Int32
        var message: String
        var testDescription: String { sink }

        init(_ sink: String, _ code: InletError.Code, _ status: Int32, _ message: String) {
            (self.sink, self.code, self.status, self.message) = (sink, code, status, message)
        }
    }

    @Test(
        "An impossible output is refused before the source is opened",
        arguments: [
            Case("a.mp4", .invalidConfiguration, 64, "Did you mean 'mp4:a.mp4'?"),
            Case("a.jpg", .invalidConfiguration, 64, "Did you mean 'jpeg:a.jpg'?"),
            Case("exec:", .invalidConfiguration, 64, "The command of exec: is missing"),
            Case("exec:a 'b", .invalidConfiguration, 64, "shell=true"),
            Case("exec:a?timeout=0", .invalidConfiguration, 64, "10ms to 3600s"),
            Case("shm:", .invalidConfiguration, 64, "Use a name without slashes or spaces"),
            Case("shm:a/b", .invalidConfiguration, 64, "Use a name without slashes or spaces"),
            Case("shm:..", .invalidConfiguration, 64, "Use a name without slashes or spaces"),
            Case("shm:a?slots=1", .invalidConfiguration, 64, "2 to 64"),
            Case("jpeg:a.jpg?every=1s", .invalidConfiguration, 64, "Every still would overwrite the last one"),
            Case("png:a-{date}.png?take=key", .invalidConfiguration, 64, "Every still would overwrite the last one"),
            Case("mp4:a.mp4?segment=10s", .invalidConfiguration, 64, "Each file would overwrite the previous one"),
            Case("jpeg:a-{m}.jpg", .invalidConfiguration, 64, "'{m}' in a file's name is not a known"),
            Case("mp4:a-{sequence}.mp4", .invalidConfiguration, 64, "'{sequence}' in a file's name is not a known"),
            Case("jpeg:{date}/a.jpg", .invalidConfiguration, 64, "not in a folder's"),
            Case("preview:0.0.0.0:8090?token=short", .invalidConfiguration, 64, "at least 8 characters"),
        ])
    func refused(_ expected: Case) throws {
        let error = #expect(throws: InletError.self) { try PluginRegistry.standard.sink(expected.sink) }
        #expect(error?.code == expected.code)
        // Opening the source would fail with another exit code, because it does not exist.
        let inlet = try InletProcess.run(["run", "/nonexistent.mp4", "--to", expected.sink])
        #expect(inlet.status == expected.status)
        #expect(
            inlet.complaints.hasPrefix("error: ") && inlet.complaints.contains(expected.message), "\(inlet.complaints)")
    }

    @Test(
        "Programs and paths that fail give the reason",
        arguments: [
            Case("exec:inlet-has-no-such-program", .notFound, 74, "The program was not found on PATH"),
            Case("exec:/nonexistent/program", .notFound, 74, "The program was not found."),
            Case("exec:/etc/passwd", .permissionDenied, 77, "chmod +x"),
            Case("exec:false", .disconnected, 75, "The program ended with exit status 1."),
            Case("exec:inlet-has-no-such-program?shell=true", .disconnected, 75, "The shell does not know the command"),
            Case("exec:cat | wc", .disconnected, 75, "needs shell=true"),
            Case("exec:sleep 100?timeout=300ms", .timedOut, 75, "The program read no frame for 300ms"),
            Case("y4m:/nonexistent/a.y4m", .notFound, 74, "create it first"),
            Case("mp4:/nonexistent/a.mp4", .notFound, 74, "create it first"),
            Case("png:/nonexistent/a.png", .notFound, 74, "create it first"),
            Case("y4m:/sys/a.y4m", .permissionDenied, 77, "refuses"),
            Case("mp4:/sys/a.mp4", .permissionDenied, 77, "refuses"),
            Case("jpeg:/sys/a.jpg", .permissionDenied, 77, "refuses"),
            Case("framemd5:/etc", .invalidConfiguration, 64, "is a folder"),
            Case("mkv:/etc", .invalidConfiguration, 64, "is a folder"),
            Case("jpeg:/etc", .invalidConfiguration, 64, "is a folder"),
            Case("y4m:/dev/full", .resourceExhausted, 74, "disk is full"),
            Case("mkv:/dev/full", .resourceExhausted, 74, "disk is full"),
        ])
    func failing(_ expected: Case) throws {
        try check(InletProcess.run(["run", Self.source, "--to", expected.sink, "--report", "json"]), expected)
    }

    @Test("An existing file is not overwritten")
    func taken() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.jpg")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        try check(
            InletProcess.run(["run", Self.source, "--to", "jpeg:\(path)", "--report", "json"]),
            Case("jpeg", .busy, 75, "Add overwrite=true"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
    }

    @Test("Shared memory of another program is left unchanged")
    func takenMemory() throws {
        let name = "inlet-test-\(UUID().uuidString)"
        let path = "/dev/shm/\(name)"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try check(
            InletProcess.run(["run", Self.source, "--to", "shm:\(name)", "--report", "json"]),
            Case("shm", .busy, 75, "Choose another name"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
    }

    @Test("The reader in Samples ends when its writer is killed, and another writer gets the name at once")
    func killedWriter() throws {
        let folder = try TemporaryFolder()
        let name = "inlet-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: "/dev/shm/\(name)") }
        let reader = BuiltProgram.package.appending(path: "Samples/SharedMemoryReader/reader.py").path
        let inlet = try InletProcess.shell(
            """
            "$INLET" run 'pattern:ball?size=64x64' --to shm:\(name) --report none & writer=$!
            until [ -e /dev/shm/\(name) ]; do sleep 0.05; done
            python3 -B '\(reader)' \(name) >'\(folder.path("read"))' & reader=$!
            until [ -s '\(folder.path("read"))' ]; do sleep 0.05; done
            kill -KILL $writer; wait $reader || exit 9
            exec "$INLET" run 'pattern:ball?size=64x64&frames=3&pace=none' --to shm:\(name)
            """)
        #expect(inlet.status == 0, "\(inlet.complaints)")
        #expect(!FileManager.default.fileExists(atPath: "/dev/shm/\(name)"))
    }

    @Test("A program that stops reading ends the run without an error")
    func enough() throws {
        let inlet = try InletProcess.run(["run", "pattern:ball?size=320x240", "--to", "exec:true", "--report", "json"])
        #expect(inlet.status == 0, "\(inlet.complaints)")
        #expect(try Report(inlet).error == nil)
    }

    @Test("The secrets of a command appear in no message about it")
    func secrets() throws {
        let secrets = ["hunter2", "hunter3", "hunter4", "hunter5"]
        let words = "--password hunter2 --api-key=hunter3 https://me:hunter4@host/v"
        let folder = try TemporaryFolder()
        let trace = folder.path("trace")
        // The program gets its secret from the environment, and prints everything it knows in its error message.
        let script = folder.path("script")
        try Data(
            "#!/bin/sh\nprintf %s $STREAM_TOKEN >\(folder.path("got")); cat >/dev/null; echo $@ TOKEN=$STREAM_TOKEN >&2; exit 3"
                .utf8
        )
        .write(to: URL(fileURLWithPath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        defer { #expect((try? String(contentsOfFile: folder.path("got"), encoding: .utf8)) == "hunter5") }
        for (program, message) in [(script, "exit status 3. It said last"), ("no-such-program", "on PATH")] {
            for style in ["json", "text", "none"] {
                let inlet = try InletProcess.shell(
                    """
                    STREAM_TOKEN=hunter5 "$INLET" run '\(Self.source)' --trace \(trace) --report \(style) \
                        --to 'exec:\(program) \(words)' --sink-retry 1
                    """)
                #expect(inlet.status != 0)
                #expect(inlet.complaints.contains(message) && inlet.complaints.contains("***"), "\(inlet.complaints)")
                let all = try inlet.complaints + String(contentsOfFile: trace, encoding: .utf8)
                #expect(secrets.filter(all.contains) == [], "\(all)")
            }
        }
    }

    private static let source = "pattern:ball?size=320x240&frames=60&pace=none"

    private func check(_ inlet: InletProcess, _ expected: Case) throws {
        #expect(inlet.status == expected.status, "\(inlet.complaints)")
        let error = try #require(try Report(inlet).error)
        #expect(error.code == expected.code.description)
        #expect(error.message.contains(expected.message), "\(error.message)")
    }
}
