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

        @Test(
            "Frame numbers written to a loopback come back right by Inlet, v4l2-ctl and ffmpeg",
            arguments: ["YU12", "YUYV"])
        func numbers(format: String) async throws {
            let node = "/dev/video40"
            let pattern = PatternConfiguration(.timecode, size: Self.size, frameRate: Rational(10))
            let capturer = Capturer(pattern)
            let written = try #require(V4L2SinkConfiguration.Format(rawValue: format))
            capturer.attach(V4L2SinkConfiguration(.node(node), format: written))
            async let run = capturer.run()
            // The device is a camera as soon as the first frame is written.
            let waited = SuspendingClock.now
            while V4L2Devices.list(formats: false).allSatisfy({ $0.node != node }),
                SuspendingClock.now - waited < .seconds(30)
            {
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
            // ffmpeg takes ten seconds to start here, so once will do.
            var theirs: Data?
            if format == "YU12" {
                theirs = try ReferenceCommand.ffmpeg(
                    ["-f", "v4l2", "-i", node, "-frames:v", "4", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])
            }
            capturer.stop()
            _ = try await run
            #expect(zip(ours, ours.dropFirst()).allSatisfy { $0 < $1 })
            var raw = try Data(contentsOf: URL(fileURLWithPath: folder.path("ctl")))
            if format == "YUYV" { raw = Self.luma(ofYUYV: raw) }
            for pictures in [raw, theirs].compactMap(\.self) {
                let numbers = Self.pictures(pictures).compactMap(Self.number)
                #expect(numbers.count == 4)
                #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 })
                #expect((numbers.first ?? 0) >= (ours.last ?? .max))
            }
        }

        /// The luma of packed 4:2:2 pictures, as I420 without colour.
        private static func luma(ofYUYV data: Data) -> Data {
            var planar = Data()
            let bytes = [UInt8](data)
            let count = 2 * size.width * size.height
            for start in stride(from: 0, to: bytes.count - count + 1, by: count) {
                planar.append(contentsOf: stride(from: start, to: start + count, by: 2).map { bytes[$0] })
                planar.append(Data(repeating: 128, count: size.packedI420ByteCount - count / 2))
            }
            return planar
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

        /// What ``VirtualMachineTests`` prepares: compressed streams of one picture that stands still, and that picture as ffmpeg decodes it.
        static let streams = [("bars.mjpeg", "mjpeg", "MJPG"), ("bars.h264", "h264", "H264")]

        static func prepare(in folder: String) throws {
            for (file, codec, _) in streams {
                let isJPEG = codec == "mjpeg"
                let pixels = isJPEG ? "yuvj420p" : "yuv420p"
                try ReferenceCommand.ffmpeg(
                    ["-f", "lavfi", "-i", "smptebars=size=320x240:rate=10", "-frames:v", "50", "-pix_fmt", pixels]
                        + (isJPEG
                            ? ["-c:v", "mjpeg", "-q:v", "2"]
                            : ["-c:v", "libx264", "-tune", "zerolatency", "-g", "5", "-crf", "10"])
                        + ["-f", codec, "\(folder)/\(file)"])
                try ReferenceCommand.ffmpeg([
                    "-f", codec, "-i", "\(folder)/\(file)", "-frames:v", "1", "-pix_fmt", pixels, "-f", "rawvideo",
                    "\(folder)/\(file).yuv",
                ])
            }
        }

        @Test("Cameras that compress are decoded: the pictures are those that ffmpeg decodes", arguments: streams)
        func compressed(file: String, codec: String, format: String) throws {
            let node = "/dev/video41"
            let path = "\(VirtualMachine.exchange)/\(file)"
            let expected = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".yuv")))
            let feeder = Process()
            feeder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            feeder.arguments = [
                "ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-f", codec, "-framerate", "10", "-i",
                path, "-c",
                "copy", "-f", "v4l2", node,
            ]
            feeder.standardInput = FileHandle.nullDevice
            try feeder.run()
            // It may be inside the driver, where nothing else ends it.
            defer { kill(feeder.processIdentifier, SIGKILL) }
            // The module's own word, so that nobody opens the device while its writer does.
            let setting = "/sys/class/video4linux/video41/format"
            let waited = SuspendingClock.now
            while (try? String(contentsOfFile: setting, encoding: .utf8))?.hasPrefix(format) != true,
                SuspendingClock.now - waited < .seconds(40)
            { Thread.sleep(forTimeInterval: 0.2) }
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
