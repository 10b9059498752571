import Foundation
import InletCapture
import InletConvert
import InletCore
import InletTesting
import InletV4L2
import PatternSource
import ReferenceTools
import Testing
import V4L2Sink
import V4L2Source

extension DriverTests {
    /// Frames through v4l2loopback: what one program writes, another sees as a camera.
    @Suite struct Loopback {
        private static let size = ImageSize(width: 320, height: 240)

        @Test("Frame numbers written to a loopback come back right by Inlet, v4l2-ctl and ffmpeg", arguments: ["YU12", "YUYV"])
        func numbers(format: String) async throws {
            let node = "/dev/video40"
            let pattern = PatternConfiguration(.timecode, size: Self.size, frameRate: Rational(10))
            let capturer = Capturer(pattern)
            let written = try #require(V4L2SinkConfiguration.Format(rawValue: format))
            capturer.attach(V4L2SinkConfiguration(.node(node), format: written))
            async let run = capturer.run()
            // The device is a camera as soon as the first frame is written.
            let waited = SuspendingClock.now
            while V4L2Devices.list(formats: false).allSatisfy({ $0.node != node }), SuspendingClock.now - waited < .seconds(30) {
                await Task.yield()
            }
            let folder = try TemporaryFolder()
            let camera = try TestCamera(V4L2Configuration(.node(node)))
            var ours: [UInt32] = []
            for _ in 0..<5 {
                let packed = PictureFile.packed(try camera.next())
                ours.append(try #require(packed.flatMap(Self.number)))
            }
            camera.close()
            try ReferenceCommand.run(
                "v4l2-ctl", ["-d", node, "--stream-mmap", "--stream-count", "4", "--stream-to", folder.path("ctl")])
            let theirs = try ReferenceCommand.ffmpeg(
                ["-f", "v4l2", "-i", node, "-frames:v", "4", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])
            capturer.stop()
            _ = try await run
            #expect(zip(ours, ours.dropFirst()).allSatisfy { $0 < $1 })
            var raw = try Data(contentsOf: URL(fileURLWithPath: folder.path("ctl")))
            if format == "YUYV" {
                raw = try ReferenceCommand.ffmpeg([
                    "-f", "rawvideo", "-pixel_format", "yuyv422", "-video_size", "\(Self.size)", "-i", folder.path("ctl"), "-pix_fmt",
                    "yuv420p", "-f", "rawvideo", "-",
                ])
            }
            for pictures in [raw, theirs] {
                let numbers = Self.pictures(pictures).compactMap(Self.number)
                #expect(numbers.count == 4)
                #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 })
                #expect((numbers.first ?? 0) >= (ours.last ?? .max))
            }
        }

        private static func pictures(_ data: Data) -> [Data] {
            (0..<data.count / size.packedI420ByteCount).map {
                data.dropFirst($0 * size.packedI420ByteCount).prefix(size.packedI420ByteCount)
            }
        }

        private static func number(_ packed: Data) -> UInt32? {
            guard let buffer = try? ReferencePictures(Data(packed), size: size).packed(0) else { return nil }
            return TimecodeReader.read(buffer)?.frame
        }

        @Test(
            "Cameras that compress are decoded: the pictures are those that ffmpeg decodes",
            arguments: [("mjpeg", "yuvj420p", "MJPG"), ("libx264", "yuv420p", "H264")])
        func compressed(codec: String, pixels: String, format: String) throws {
            let node = "/dev/video41"
            let folder = try TemporaryFolder()
            // A picture that stands still, so that every frame is alike.
            let source = ["-f", "lavfi", "-i", "smptebars=size=320x240:rate=10", "-pix_fmt", pixels, "-c:v", codec]
            let options = codec == "mjpeg" ? ["-q:v", "2"] : ["-tune", "zerolatency", "-g", "5", "-crf", "10"]
            let container = codec == "mjpeg" ? "mjpeg" : "h264"
            try ReferenceCommand.ffmpeg(source + options + ["-frames:v", "1", "-f", container, folder.path("one")])
            let expected = [UInt8](
                try ReferenceCommand.ffmpeg([
                    "-f", container, "-i", folder.path("one"), "-pix_fmt", pixels, "-frames:v", "1", "-f", "rawvideo", "-",
                ]))
            let feeder = Process()
            feeder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            feeder.arguments = ["ffmpeg", "-v", "error", "-nostdin", "-re"] + source + options + ["-f", "v4l2", node]
            feeder.standardInput = FileHandle.nullDevice
            try feeder.run()
            defer {
                feeder.terminate()
                feeder.waitUntilExit()
            }
            let waited = SuspendingClock.now
            while V4L2Devices.list(formats: false).allSatisfy({ $0.node != node }), SuspendingClock.now - waited < .seconds(30) {}
            let camera = try TestCamera(V4L2Configuration(.node(node)))
            #expect(camera.format.container?.contains(format) == true)
            for _ in 0..<3 {
                let packed = PictureFile.packed(try camera.next())
                let actual = [UInt8](try #require(packed))
                #expect(PictureComparison.psnr(actual, expected) >= 40)
            }
        }
    }
}
