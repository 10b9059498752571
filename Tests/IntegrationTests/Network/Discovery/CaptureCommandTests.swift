import Foundation
import ReferenceTools
import Testing

/// `inlet capture`, and `rtspcap:` playing its file.
@Suite(.tags(.server), .serialized, .fewAtATime, .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
struct CaptureCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The summary that `inlet capture` prints at the end.
    private struct Ending: Decodable {
        var bytes: Int
        var pictures: Int
        var ended: String
    }

    private func server(_ clip: String) throws -> (server: RTSPServer, url: String) {
        var options = RTSPServer.Options()
        options.file = clip
        options.authentication = .digest
        (options.user, options.password) = ("watchman", "s3cr3t-w0rd")
        let server = try RTSPServer(options)
        return (server, server.url.replacing("rtsp://", with: "rtsp://watchman@") + "?password-env=CAMERA&transport=")
    }

    private func capture(_ arguments: [String]) throws -> InletProcess {
        try InletProcess.run(["capture"] + arguments, environment: ["CAMERA": "s3cr3t-w0rd"])
    }

    private func sums(of capture: String) throws -> [String] {
        let played = try InletProcess.run(["run", "rtspcap:\(capture)", "--to", "framemd5:-", "--report", "none"])
        #expect(played.status == 0, "\(played.complaints)")
        return FrameLines(played.output).lines.map(\.md5)
    }

    @Test("A capture plays the pictures that ffmpeg decodes from the served file", arguments: ["tcp", "udp"])
    func pictures(_ transport: String) throws {
        let clip = folder.path("clip.mp4")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "100", "-pix_fmt", "yuv420p", "-c:v",
            "libx264", "-g", "10", "-bf", "0", clip,
        ])
        let expected = try FrameLines.ffmpeg(clip).lines.map(\.md5)
        let (server, url) = try server(clip)
        let path = folder.path("camera.rtspcap")
        let inlet = try capture([url + transport, "--to", path, "--duration", "2", "--report", "json"])
        #expect(inlet.status == 0, "\(inlet.complaints)")
        let report = try JSONDecoder().decode(Ending.self, from: Data(inlet.complaints.utf8))
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(report.ended == "durationLimit" && report.bytes == data.count)
        for secret in ["s3cr3t", "w0rd", "watchman"] { #expect(data.range(of: Data(secret.utf8)) == nil) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let played = try sums(of: path)
        #expect(played.count == report.pictures && played.count > 20)
        #expect(played == Array(expected.prefix(played.count)))
        #expect(try sums(of: path) == played)

        // An existing file is kept, unless it may be replaced.
        let refused = try capture([url + transport, "--to", path, "--duration", "1"])
        #expect(refused.status == 75 && refused.complaints.contains("--overwrite"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == data)
        let small = try capture([
            url + transport, "--to", path, "--overwrite", "--max-size", "50000", "--report", "json",
        ])
        #expect(small.status == 0, "\(small.complaints)")
        #expect(try JSONDecoder().decode(Ending.self, from: Data(small.complaints.utf8)).ended == "sizeLimit")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count <= 50_000)
        let shorter = try sums(of: path)
        #expect(shorter == Array(expected.prefix(shorter.count)) && !shorter.isEmpty)
        server.stop()
    }

    @Test("A stream that cannot be captured fails with the exit status of its cause")
    func refusals() throws {
        let path = folder.path("camera.rtspcap")
        for (arguments, status) in [
            (["clip.mp4", "--to", path], 64), (["ffmpeg:rtsp://127.0.0.1/", "--to", path], 64),
            (["rtsp://127.0.0.1:1/", "--to", folder.path("none/camera.rtspcap")], 74),
            (["rtsp://127.0.0.1:1/", "--to", path, "--max-size", "0"], 64), (["rtsp://127.0.0.1:1/"], 64),
            (["rtsp://127.0.0.1:1/", "--to", path], 75),
        ] as [([String], Int32)] {
            let inlet = try capture(arguments)
            #expect(inlet.status == status, "\(arguments): \(inlet.complaints)")
        }
        // The last capture was begun, and its file reports the same error.
        let played = try InletProcess.run(["run", "rtspcap:\(path)", "--report", "json", "--retry", "never"])
        #expect(played.status == 75 && played.complaints.contains("connectionRefused"), "\(played.complaints)")
    }
}
