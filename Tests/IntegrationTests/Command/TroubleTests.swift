import Foundation
import Inlet
import ReferenceTools
import Testing

/// Errors that users meet, with message and exit code.
@Suite(.blocking) struct TroubleTests {
    @Test(
        "Bad input gives a clear message and the right exit code",
        arguments: [
            (["run", "/nonexistent.mp4"], 66, "does not exist"),
            (["run", "/etc"], 66, "directory"),
            (["run", "/etc/passwd"], 65, "in a format that"),
            (["run", "carrier:pigeon"], 64, "no source 'carrier:'"),
            (["run", "pattern:smpte?sise=640x480"], 64, "Did you mean 'size'?"),
            (["run", "pattern:smpte?size=0x0"], 64, "16x16 to 8192x8192"),
            (["run", "pattern:smpte", "--size", "0x0"], 64, "--size"),
            (["run", "pattern:smpte", "--max-fps", "0"], 64, "above zero"),
            (["run", "pattern:smpte?frames=3", "--to", "y4m:/nonexistent/out.y4m"], 74, "folder"),
            (["run", "pattern:smpte?frames=3&pace=none", "--to", "i420:/dev/full"], 74, "disk is full"),
            (["run", "pattern:smpte", "--to", "pattern:smpte"], 64, "not a sink"),
            (["probe", "/nonexistent.mp4"], 66, "does not exist"),
            (["probe", "/etc"], 66, "directory"),
            (["plugins", "patern"], 64, "Did you mean 'pattern'?"),
        ] as [([String], Int32, String)])
    func trouble(arguments: [String], status: Int32, message: String) throws {
        let inlet = try InletProcess.run(arguments)
        #expect(inlet.status == status)
        #expect(inlet.complaints.contains(message), "\(inlet.complaints)")
    }

    @Test("A file with only sound, and an empty file, are reported as such")
    func noVideo() throws {
        for command in ["run", "probe"] {
            let sound = try InletProcess.run([command, TestClips.path("sound-only.mp4")])
            #expect(sound.status == 65)
            #expect(sound.complaints.contains("no video"))
        }
        let folder = try TemporaryFolder()
        #expect(FileManager.default.createFile(atPath: folder.path("empty.mp4"), contents: Data()))
        let empty = try InletProcess.run(["run", folder.path("empty.mp4")])
        #expect(empty.status == 65)
        #expect(empty.complaints.contains("empty"))
    }

    @Test("A source that does not answer is reopened as often as requested, and the log shows the attempts")
    func retries() throws {
        let folder = try TemporaryFolder()
        _ = try ReferenceCommand.run("mkfifo", [folder.path("fifo")])
        let out = folder.path("out.y4m")
        let inlet = try InletProcess.run([
            "run", folder.path("fifo"), "--timeout", "300ms", "--retry", "2", "--outage", "text", "--size", "640x480",
            "--to", "y4m:\(out)",
            "--report", "json",
        ])
        #expect(inlet.status == 75)
        #expect(inlet.complaints.components(separatedBy: "Trying again").count == 3)
        #expect(inlet.complaints.contains("timedOut"))
        // Text on a dark picture.
        let picture = try ReferenceCommand.ffmpeg([
            "-i", out, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-",
        ])
        #expect(picture.count == 640 * 480)
        #expect(picture.max() ?? 0 > 180 && picture.min() ?? 255 < 60)
    }

    @Test("Ctrl-C ends a run on a FIFO without a writer, with exit code 130")
    func silentFIFO() throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path("fifo")
        let inlet = try InletProcess.shell(
            """
            mkfifo '\(fifo)'; "$INLET" run '\(fifo)' --report json & inlet=$!
            # A shell has its background ignore the signal until a program takes it.
            until (( 0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$inlet/status) & 2 )) || ! kill -0 $inlet; do sleep 0.05; done
            kill -INT $inlet; wait $inlet
            """)
        #expect(inlet.status == 130)
        #expect(try Report(inlet).ended == "cancelled")
    }

    @Test("A reader that closes its pipe ends the run without an error")
    func readerGoesAway() throws {
        let inlet = try InletProcess.shell(
            "\"$INLET\" run 'pattern:ball?size=320x240&pace=none' --to y4m:- --report none | head -c 1000 | wc -c; exit ${PIPESTATUS[0]}"
        )
        #expect(inlet.status == 0)
        #expect(String(decoding: inlet.output, as: UTF8.self).contains("1000"))
        #expect(inlet.complaints.isEmpty, "\(inlet.complaints)")
    }

    @Test(
        "Truncated and bit-flipped files give frames or a typed error, never a crash or a hang",
        arguments: ["h264-b.mp4", "late-start.ts", "vfr.mkv"])
    func damage(_ clip: String) throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: TestClips.path(clip)))
        let folder = try TemporaryFolder()
        for seed in 1...50 {
            var random = SplitMix64(seed: UInt64(seed))
            var bytes = whole
            if seed % 2 == 0 { bytes = bytes.prefix(Int(random.next() % UInt64(bytes.count))) }
            for _ in 0..<(seed % 8) where !bytes.isEmpty {
                bytes[Int(random.next() % UInt64(bytes.count))] ^= UInt8(1 << (random.next() % 8))
            }
            let path = folder.path("damaged-\(seed)-\(clip)")
            try bytes.write(to: URL(fileURLWithPath: path))
            let inlet = try InletProcess.run(["run", path, "--report", "json"])
            #expect([0, 65, 69].contains(inlet.status), "seed \(seed): \(inlet.status) \(inlet.complaints)")
            let report = try Report(inlet)
            #expect((report.ended == "failed") == (inlet.status != 0), "seed \(seed)")
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
