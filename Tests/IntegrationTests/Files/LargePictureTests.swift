import Foundation
import Inlet
import ReferenceTools
import Testing

/// Pictures larger than `max-size` use no memory, whichever part of the program decodes them.
@Suite(.blocking) struct LargePictureTests {
    /// A small JPEG whose header states 16000x16000.
    private func jpeg() throws -> Data {
        var bytes = [UInt8](
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1", "-f", "image2pipe", "-c:v", "mjpeg", "-",
            ]))
        let place = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        bytes.replaceSubrange(place + 5..<place + 9, with: [0x3E, 0x80, 0x3E, 0x80])
        // libavcodec rejects a picture that has too few bytes.
        return Data(bytes) + Data(count: 1_500_000)
    }

    private struct Peak: Decodable {
        var peakKibibytes: Int
        private enum CodingKeys: String, CodingKey { case peakKibibytes = "peak_rss_kib" }
    }

    @Test(
        "A 16000x16000 JPEG in a stream is refused as a picture and as a packet",
        arguments: ["null:", "mkv:OUT?codec=copy", "mp4:OUT?codec=copy"])
    func stream(_ sink: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("large.mkv")
        try MatroskaFile(times: Array(0..<3), picture: try jpeg()).bytes.write(to: URL(fileURLWithPath: path))
        var options = HostileServer.Options()
        (options.kind, options.file) = (.rawFile, path)
        let server = try HostileServer(options)
        for source in ["ffmpeg:\(server.url("tcp", ""))", path] {
            let inlet = try InletProcess.run([
                "run", source, "--retry", "never", "--report", "json", "--to",
                sink.replacingOccurrences(of: "OUT", with: folder.path("out")),
            ])
            let peak = try JSONDecoder().decode(Peak.self, from: Data(inlet.complaints.utf8)).peakKibibytes
            // The program uses about 60 MB without pictures; one picture of that size is 384 MB.
            #expect(peak < 200 << 10, "\(source) took \(peak >> 10) MB")
            let report = try Report(inlet)
            if source != path {
                #expect(
                    report.error?.code == "unsupported" && report.error?.message.contains("max-size") == true,
                    "\(inlet.complaints)")
            }
        }
    }

    @Test("A picture of exactly the maximum size is accepted, even if the codec's blocks are larger")
    func exact() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("exact.ts")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=322x182:rate=25:duration=0.4", "-c:v", "libx264", "-pix_fmt", "yuv420p",
            path,
        ])
        var options = HostileServer.Options()
        (options.kind, options.file) = (.rawFile, path)
        let server = try HostileServer(options)
        for (size, isTaken) in [("322x182", true), ("320x182", false), ("322x180", false)] {
            let inlet = try InletProcess.run([
                "run", "ffmpeg:\(server.url("tcp", ""))?max-size=\(size)", "--frames", "2", "--retry", "never",
                "--report", "json",
            ])
            #expect((inlet.status == 0) == isTaken, "\(size): \(inlet.complaints)")
        }
    }
}
