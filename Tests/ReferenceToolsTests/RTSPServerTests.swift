import Foundation
import InletCore
import ReferenceTools
import Testing

extension PeerTests {
    @Suite(.serialized, .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct RTSPServerTests {
        @Test(
            "ffmpeg reads the number of every live picture",
            arguments: [(.h264, "tcp"), (.h264, "udp"), (.h264, "http"), (.h265, "tcp"), (.mjpeg, "udp")]
                as [(RTSPServer.Codec, String)])
        func live(codec: RTSPServer.Codec, transport: String) throws {
            let server = try RTSPServer.live(codec)
            expectTimecode(try Client.numbers(server.url, ["-rtsp_transport", transport]))
        }

        /// Without a default route, multicast groups have no interface.
        private static let hasRoute =
            (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8))?.contains("\t00000000\t") == true

        @Test("Live pictures arrive by multicast", .enabled(if: hasRoute, "this machine has no default route"))
        func multicast() throws {
            var options = RTSPServer.Options()
            options.transport = .multicast
            let server = try RTSPServer(options)
            expectTimecode(try Client.numbers(server.url, ["-rtsp_transport", "udp_multicast"]))
        }

        @Test("A restarted server uses its previous port, even with a client connected")
        func restart() throws {
            var options = RTSPServer.Options()
            for _ in 0..<3 {
                let server = try RTSPServer(options)
                options.port = server.port
                let client = try BackgroundClient("ffmpeg", ["-v", "error", "-i", server.url, "-f", "null", "-"])
                try waitForFrames(of: server)
                server.stop()
                #expect(client.status() != 124)
            }
        }

        /// rtspsrc says goodbye on a connection that may already be closed, and then fails. Only the pictures that it
        /// read count.
        @Test("GStreamer reads it, too")
        func gstreamer() throws {
            let server = try RTSPServer.live()
            let folder = try TemporaryFolder()
            let client = try Client.run(
                "gst-launch-1.0",
                [
                    "-q", "rtspsrc", "location=\(server.url)", "protocols=tcp", "!", "rtph264depay", "!", "avdec_h264",
                    "!", "video/x-raw,format=I420", "!", "identity", "eos-after=15", "!",
                    "filesink", "location=\(folder.path("pictures"))",
                ])
            let pictures = FileManager.default.contents(atPath: folder.path("pictures")) ?? Data()
            let numbers = try Client.numbers(in: pictures)
            #expect(numbers.count >= 10, "\(client.text)")
            expectTimecode(Array(numbers.prefix(10)), count: 10)
        }

        @Test("A file arrives with its pictures", arguments: ["h264-b.mp4", "hevc.mp4"])
        func file(_ clip: String) throws {
            let path = try TestClips.path(clip)
            let server = try RTSPServer.file(path)
            #expect(try Client.sums(server.url, ["-rtsp_transport", "tcp"]) == Client.sums(path))
        }

        @Test("Without the password the answer is 401", arguments: [RTSPServer.Authentication.basic, .digest])
        func password(_ authentication: RTSPServer.Authentication) throws {
            var options = RTSPServer.Options()
            options.authentication = authentication
            let server = try RTSPServer(options)
            let stranger = try Client.run("ffprobe", ["-v", "error", server.url])
            #expect(stranger.status != 0)
            #expect(stranger.text.contains("401"), "\(stranger.text)")
            let known = server.url.replacing("rtsp://", with: "rtsp://camera:secret@")
            #expect(try Client.run("ffprobe", ["-v", "error", known]).status == 0)
        }

        @Test("The certificate is trusted only with its authority")
        func certificate() throws {
            var options = RTSPServer.Options()
            options.isTLS = true
            let server = try RTSPServer(options)
            let authority = try #require(server.authority)
            let arguments = [
                "s_client", "-connect", "127.0.0.1:\(server.port)", "-verify_return_error", "-verify_ip", "127.0.0.1",
            ]
            #expect(try Client.run("openssl", arguments + ["-CAfile", authority]).status == 0)
            #expect(try Client.run("openssl", arguments).status != 0)
            expectTimecode(try Client.numbers(server.url, ["-rtsp_transport", "tcp"]))
        }

        @Test("The next connection gets the new size and codec")
        func change() throws {
            let server = try RTSPServer.live()
            #expect(try described(server) == "h264,640,480")
            try server.change(codec: .h265, size: ImageSize(width: 320, height: 240))
            #expect(try described(server) == "hevc,320,240")
        }

        private func described(_ server: RTSPServer) throws -> String {
            try Client.run(
                "ffprobe",
                ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", server.url]
            ).text.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        @Test("Killed connections end the client, and a stopped stream delivers no packet")
        func troubles() throws {
            let server = try RTSPServer.live()
            let client = try BackgroundClient("ffmpeg", ["-v", "error", "-i", server.url, "-f", "null", "-"])
            try waitForFrames(of: server)
            #expect(try server.report()["clients"] == 1)
            try server.killConnections()
            #expect(client.status() != 124)
            try server.stopSending()
            let starving = try Client.run("ffprobe", ["-v", "error", server.url], seconds: 2)
            #expect(starving.status != 0, "ffprobe got a picture: \(starving.text)")
            try server.resumeSending()
            expectTimecode(try Client.numbers(server.url, ["-rtsp_transport", "tcp"]))
        }

        private func waitForFrames(of server: RTSPServer) throws {
            let deadline = ContinuousClock.now + .seconds(20)
            while try server.report()["frames"]?.int ?? 0 < 10 {
                try #require(ContinuousClock.now < deadline, "no frames were sent: \(server.process.log)")
            }
        }
    }
}

/// A program that runs in parallel to a test, for at most 20 s.
final class BackgroundClient {
    private let process = Process()

    init(_ program: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "--kill-after=1", "20", program] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { process.terminate() }

    /// Waits for its end and returns its exit code; 124 at the time limit.
    func status() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
