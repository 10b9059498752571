import Foundation
import ReferenceTools
import Testing

/// Files that cannot be read to the end, and pipes whose writers stop.
@Suite(.blocking) struct InputTroubleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Ten seconds of pictures, a key frame a second.
    private func clip(_ name: String) throws -> (path: String, bytes: Int) {
        let path = folder.path(name)
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "250", "-c:v", "libx264", "-preset",
            "ultrafast", "-g", "25", "-movflags", "+faststart", path,
        ])
        return (path, try Data(contentsOf: URL(fileURLWithPath: path)).count)
    }

    @Test(
        "A read error in the middle of a file is reported after the pictures before it; a truncated file is no error",
        arguments: ["a.mp4", "a.mkv", "a.ts", "a.avi"], [EIO, ESTALE])
    func failingRead(_ name: String, _ code: Int32) throws {
        let clip = try clip(name)
        let failing = try FailingRead(in: folder)
        let environment = failing.environment(path: clip.path, from: clip.bytes / 2, code: code)
        let inlet = try InletProcess.shell("\(environment) \"$INLET\" run '\(clip.path)' --report json")
        #expect(inlet.status == 74, "\(inlet.complaints)")
        let report = try Report(inlet)
        #expect(report.ended == "failed" && report.error?.code == "inputOutput", "\(inlet.complaints)")
        #expect((60..<190).contains(report.frames.delivered), "\(report.frames)")

        let half = try FileHandle(forUpdating: URL(fileURLWithPath: clip.path))
        try half.truncate(atOffset: UInt64(clip.bytes / 2))
        try half.close()
        let cut = try InletProcess.run(["run", clip.path, "--report", "json"])
        #expect(cut.status == 0, "\(cut.complaints)")
        #expect(try Report(cut).frames.delivered >= 60)
    }

    /// The beginning of a script: a FIFO that `inlet` reads in the background, and a function that waits for a line of
    /// the command's output.
    private func script(_ arguments: String) -> String {
        """
        mkfifo '\(folder.path("fifo"))'; exec 2>'\(folder.path("script.log"))'
        cd '\(folder.path(""))'
        until_() { for _ in $(seq 1000); do eval "$1" && return; sleep 0.02; done; echo "never: $1"; exit 99; }
        camera() { exec ffmpeg -v error -nostdin -re -f lavfi -i testsrc2=size=320x240:rate=25 "$@" -c:v mpeg2video -g 10 -f mpegts -y fifo; }
        "$INLET" run \(arguments) --timeout 3 --retry 20 --to framemd5:frames --report json 2>inlet.log & inlet=$!
        frames() { grep -c '^0,' frames 2>/dev/null; }

        """
    }

    private func finish(_ inlet: InletProcess) throws -> (report: Report, log: String) {
        #expect(inlet.status == 0, "\(String(decoding: inlet.output, as: UTF8.self))")
        let lines = try String(contentsOfFile: folder.path("inlet.log"), encoding: .utf8)
        let json = lines.split(separator: "\n").last.map(String.init) ?? ""
        return (try JSONDecoder().decode(Report.self, from: Data(json.utf8)), lines)
    }

    @Test("A FIFO whose writer stops after pictures is opened again and continues with the next writer")
    func stoppedWriter() throws {
        let inlet = try InletProcess.shell(
            script("fifo")
                + """
                camera & writer=$!
                until_ '[[ $(frames) -gt 20 ]]'
                kill -STOP $writer
                until_ 'grep -q "Trying again" inlet.log'
                kill -KILL $writer
                before=$(frames)
                # The next one comes to its end, and so does the run.
                camera -t 2
                wait $inlet; status=$?
                echo "$before frames before, $(frames) after"
                [[ $(frames) -ge $((before + 40)) ]] && exit $status
                exit 98
                """.replacing("camera -t 2", with: "(camera -t 2)"))
        let (report, log) = try finish(inlet)
        #expect(report.ended == "endOfStream" && log.contains("timedOut") == false, "\(log)")
    }

    @Test("A FIFO that a camera program writes is opened again when that program has died")
    func deadWriter() throws {
        let inlet = try InletProcess.shell(
            script("'fifo?pace=live' --frames 60") + """
                camera & writer=$!
                until_ '[[ $(frames) -gt 10 ]]'
                kill -KILL $writer
                until_ 'grep -q "Trying again" inlet.log'
                camera & writer=$!
                wait $inlet; status=$?
                kill -KILL $writer
                exit $status
                """)
        let (report, log) = try finish(inlet)
        #expect(report.ended == "frameLimit" && report.frames.captured == 60, "\(log)")
        #expect(log.contains("has closed it"), "\(log)")
    }

    @Test(
        "A FIFO that falls silent during its first packets times out, at any point",
        arguments: [100, 2000, 30_000, 60_000, 120_000, 300_000])
    func silentBeginning(_ bytes: Int) throws {
        let clip = try clip("a.ts")
        try #require(clip.bytes > 300_000)
        let inlet = try InletProcess.shell(
            """
            mkfifo '\(folder.path("fifo"))'
            (head -c \(bytes) '\(clip.path)'; exec sleep 30) > '\(folder.path("fifo"))' & writer=$!
            "$INLET" run '\(folder.path("fifo"))' --timeout 500ms --retry never --report json; status=$?
            kill $writer
            exit $status
            """)
        #expect(inlet.status == 75, "\(inlet.complaints)")
        // The report is the last line; the other lines report state changes.
        let report = Data((inlet.complaints.split(separator: "\n").last ?? "").utf8)
        #expect(try JSONDecoder().decode(Report.self, from: report).error?.code == "timedOut", "\(inlet.complaints)")
    }

    @Test("A file is not live")
    func liveFile() throws {
        let inlet = try InletProcess.run(["run", "\(try TestClips.path("h264-b.mp4"))?pace=live"])
        #expect(inlet.status == 64 && inlet.complaints.contains("FIFO"), "\(inlet.complaints)")
    }

    @Test("Probing a silent server takes one attempt", arguments: ["rtsp", "http"])
    func silentServer(_ scheme: String) throws {
        let server = try HostileServer(.blackHole)
        let url = server.url(scheme) + "?connect-timeout=500ms&first-timeout=500ms"
        let inlet = try InletProcess.run(["probe", url])
        #expect(inlet.status == 75 && inlet.complaints.contains("connect-timeout"), "\(inlet.complaints)")
        #expect(try server.report()["connections"]?.int == 1)
    }
}
