import Foundation
import InletCapture
import InletConvert
import InletCore
import InletTesting
import InletV4L2
import PatternSource
import ReferenceTools
import Synchronization
import Testing
import V4L2Sink
import V4L2Source

extension DriverTests {
    /// Frames through v4l2loopback: one program writes, and another sees a camera.
    @Suite struct Loopback {
        @Test(
            "Frame numbers written to a loopback are read correctly by Inlet, v4l2-ctl and ffmpeg",
            arguments: [("YU12", "320x240"), ("YUYV", "320x240"), ("mjpeg", "321x241")])
        func numbers(format: String, size: String) async throws {
            let node = "/dev/video40"
            let size = try #require(ImageSize(optionText: size))
            // A reader that requests fewer buffers than there are removes buffers from the ring, including those with
            // the newest pictures. The driver's list of them has no lock: a reader that shortens the ring while a
            // picture is written can crash the kernel (v4l2loopback 0.12.7, vidioc_reqbufs and buffer_written). So the
            // ring is shortened while nothing is written.
            let writer = try LoopbackRing.makeWriter(node)
            try writer.consume(LoopbackRing.frame(1))
            try ReferenceCommand.run("v4l2-ctl", ["-d", node, "--stream-mmap", "--stream-count=1"])
            try writer.finish()
            let pattern = PatternConfiguration(.timecode, size: size, frameRate: Rational(10))
            let capturer = Capturer(pattern)
            let written = try #require(V4L2SinkConfiguration.Format(rawValue: format))
            capturer.attach(V4L2SinkConfiguration(.node(node), format: written))
            async let run = capturer.run()
            // The device is a camera as soon as the first frame is written.
            await Waiting.until { V4L2Devices.list(formats: false).contains { $0.node == node } }
            let folder = try TemporaryFolder()
            let camera = try TestCamera(V4L2Configuration(.node(node)))
            var ours: [UInt32] = []
            for _ in 0..<5 {
                let packed = PictureFile.packed(try camera.next())
                ours.append(try #require(packed.flatMap { Self.number($0, size) }))
            }
            camera.close()
            try Self.soon(
                "v4l2-ctl", ["-d", node, "--stream-mmap", "--stream-count", "4", "--stream-to", folder.path("ctl")])
            let isJPEG = format == "mjpeg"
            // ffmpeg takes ten seconds to start here, so it is not started for each.
            var theirs: Data?
            if format != "YUYV" {
                theirs = try Self.ffmpeg(
                    ["-f", "v4l2"] + (isJPEG ? ["-input_format", "mjpeg"] : []) + ["-i", node, "-frames:v", "4"])
            }
            capturer.stop()
            _ = try await run
            #expect(zip(ours, ours.dropFirst()).allSatisfy { $0 < $1 }, "\(ours)")
            var raw = try Data(contentsOf: URL(fileURLWithPath: folder.path("ctl")))
            if format == "YUYV" { raw = Self.luma(ofYUYV: raw, size) }
            if isJPEG { raw = try Self.ffmpeg(["-f", "mjpeg", "-i", folder.path("ctl")]) }
            for pictures in [raw, theirs].compactMap(\.self) {
                let numbers = Self.pictures(pictures, size).compactMap { Self.number($0, size) }
                #expect(numbers.count == 4)
                // A slow reader gets a frame twice from the driver: v4l2loopback, unlike Inlet's source, repeats it.
                #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 }, "\(numbers)")
                #expect(Set(numbers).count > 1, "\(numbers)")
                #expect((numbers.first ?? 0) >= (ours.last ?? .max))
            }
        }

        @Test(
            "Through an output's mapped buffers, single- and multi-planar, frame numbers return at the connected input",
            arguments: ["platform:vivid-000", "platform:vivid-001"], ["YU12", "YUYV"])
        func outputs(bus: String, format: String) async throws {
            let device = Vivid(bus: bus)
            let size = ImageSize(width: 640, height: 480)
            let node = try #require(V4L2Devices.list(.output, formats: false).first { $0.identity.bus == bus }).node
            // Both ends are HDMI, with the first of the driver's timings, whose size this is.
            try device.control("-i", "3", "--set-dv-bt-timings", "index=0")
            try device.control("-c", "loop_video=1,osd_text_mode=2")
            try Self.soon("v4l2-ctl", ["-d", node, "-o", "1", "--set-dv-bt-timings", "index=0"])
            defer { _ = try? device.control("-c", "loop_video=0,osd_text_mode=0", "-i", "0") }
            let capturer = Capturer(PatternConfiguration(.timecode, size: size, frameRate: Rational(5)))
            let written = try #require(V4L2SinkConfiguration.Format(rawValue: format))
            capturer.attach(V4L2SinkConfiguration(.node(node), format: written))
            async let run = capturer.run()
            var configuration = V4L2Configuration(.path(bus))
            configuration.input = 3
            configuration.size = size
            let isSplit = bus == Vivid.second.bus && format == "YU12"
            configuration.format = isSplit ? "YM12" : FourCC(format)
            var numbers: [UInt32] = []
            do {
                let camera = try TestCamera(configuration)
                // The pictures before the output streams are noise.
                for _ in 0..<400 where Set(numbers).count < 4 {
                    let packed = PictureFile.packed(try camera.next())
                    if let number = packed.flatMap({ Self.number($0, size) }) { numbers.append(number) }
                }
            }
            capturer.stop()
            _ = try await run
            #expect(Set(numbers).count >= 4, "\(numbers)")
            #expect(numbers == numbers.sorted(), "\(numbers)")
        }

        @Test("The sink keeps the contract of sinks with mapped buffers", arguments: ["YU12", "YUYV", "auto"])
        func mappedConformance(format: String) async throws {
            let written = try #require(V4L2SinkConfiguration.Format(rawValue: format))
            let nodes = V4L2Devices.list(.output, formats: false).filter { $0.driver == "vivid" }.map(\.node)
            try #require(nodes.count == 2)
            var suite = SinkConformance()
            suite.size = ImageSize(width: 64, height: 48)
            let made = Atomic(0)
            let violations = await suite.check {
                let isFirst = made.add(1, ordering: .relaxed).oldValue != 1
                return V4L2SinkConfiguration(.node(nodes[isFirst ? 0 : 1]), format: written)
            }
            #expect(violations == [])
        }

        /// Runs a program that would wait for ever for a camera that sends nothing.
        @discardableResult private static func soon(_ program: String, _ arguments: [String]) throws -> Data {
            try ReferenceCommand.run("timeout", ["--signal=KILL", "60", program] + arguments)
        }

        /// The pictures that ffmpeg reads, as I420 in their own range.
        private static func ffmpeg(_ input: [String]) throws -> Data {
            try soon(
                "ffmpeg",
                ["-v", "error", "-nostdin"] + input + [
                    "-fps_mode", "passthrough", "-pix_fmt", "yuvj420p", "-f", "rawvideo", "-",
                ])
        }

        @Test(
            "The sink keeps the contract of sinks, at odd sizes as JPEGs and at even ones as requested",
            arguments: [
                ("mjpeg", "63x49"), ("auto", "63x49"), ("YU12", "64x48"), ("YUYV", "64x48"), ("auto", "64x48"),
            ])
        func conformance(format: String, size: String) async throws {
            let written = try #require(V4L2SinkConfiguration.Format(rawValue: format))
            var suite = SinkConformance()
            suite.size = try #require(ImageSize(optionText: size))
            suite.unusable = V4L2SinkConfiguration(.node("/dev/null"))
            let made = Atomic(0)
            let violations = await suite.check {
                // Two tests that run at the same time get a device each.
                let isFirst = made.add(1, ordering: .relaxed).oldValue != 1
                return V4L2SinkConfiguration(.node(isFirst ? "/dev/video40" : "/dev/video41"), format: written)
            }
            #expect(violations == [])
        }

        @Test("An odd width that a device cannot hold in pixels is refused, and the error names the possible formats")
        func oddWidth() throws {
            let sink = V4L2SinkConfiguration(.node("/dev/video40"), format: .yu12).makeSink()
            let format = VideoFormat(size: ImageSize(width: 63, height: 49), timeBase: Rational(1, 30))
            let error = #expect(throws: InletError.self) { try sink.start(format, SinkContext()) }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("odd widths only as MJPEG") == true)
            try sink.finish()
        }

        /// The luma of packed 4:2:2 pictures, as I420 without colour.
        private static func luma(ofYUYV data: Data, _ size: ImageSize) -> Data {
            var planar = Data()
            let bytes = [UInt8](data)
            let count = 2 * size.width * size.height
            for start in stride(from: 0, to: bytes.count - count + 1, by: count) {
                planar.append(contentsOf: stride(from: start, to: start + count, by: 2).map { bytes[$0] })
                planar.append(Data(repeating: 128, count: size.packedI420ByteCount - count / 2))
            }
            return planar
        }

        private static func pictures(_ data: Data, _ size: ImageSize) -> [Data] {
            (0..<data.count / size.packedI420ByteCount).map {
                data.dropFirst($0 * size.packedI420ByteCount).prefix(size.packedI420ByteCount)
            }
        }

        private static func number(_ packed: Data, _ size: ImageSize) -> UInt32? {
            guard let buffer = try? ReferencePictures(Data(packed), size: size).packed(0) else { return nil }
            return TimecodeReader.read(buffer)?.frame
        }

        /// A stream of one still picture that ffmpeg writes into a loopback.
        struct Stream: Sendable, CustomTestStringConvertible {
            var format: String
            /// The ffmpeg options of the stream, before its file.
            var input: [String]
            var size: String
            /// The ffmpeg options that make it.
            var encoding: [String]
            /// How close our picture must come to ffmpeg's, which may decode by another inverse transform.
            var quality: Double
            /// The pixel format of ffmpeg's decoding.
            var pixels = "yuv420p"
            /// Filters before that.
            var filters = "null"

            var file: String { "bars.\(format)" }
            var testDescription: String { "\(format) \(size)" }

            static func raw(_ format: String, _ name: String) -> Stream {
                let input = ["-f", "rawvideo", "-pixel_format", name, "-video_size", "321x241"]
                var stream = Stream(
                    format: format, input: input, size: "321x241",
                    encoding: ["-pix_fmt", name, "-f", "rawvideo"], quality: 45)
                if name == "gray" {
                    // Luma is unchanged.
                    stream.pixels = "yuvj420p"
                } else {
                    // libswscale computes the chroma of an odd last column from the memory that follows as well, so it
                    // gets an even picture.
                    stream.filters =
                        "pad=322:242,fillborders=right=1:bottom=1:mode=smear,scale=flags=area+accurate_rnd+full_chroma_int,"
                        + "format=yuv420p,crop=321:241:0:0:exact=1"
                }
                return stream
            }
        }

        /// The clips that ``VirtualMachineTests`` prepares, each with the picture that ffmpeg makes of it.
        static let streams = [
            Stream(
                format: "MJPG", input: ["-f", "mjpeg"], size: "320x240",
                encoding: ["-pix_fmt", "yuvj420p", "-q:v", "2", "-f", "mjpeg"], quality: 40, pixels: "yuvj420p"),
            Stream(
                format: "H264", input: ["-f", "h264"], size: "320x240",
                encoding: [
                    "-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency", "-g", "5", "-crf", "10", "-f",
                    "h264",
                ], quality: 40),
            // Odd sizes, which vivid does not offer.
            .raw("RGB3", "rgb24"), .raw("BGR4", "bgr0"), .raw("GREY", "gray"),
        ]

        static func prepare(in folder: String) throws {
            for stream in streams {
                let path = "\(folder)/\(stream.file)"
                try ReferenceCommand.ffmpeg(
                    ["-f", "lavfi", "-i", "smptebars=size=\(stream.size):rate=10", "-frames:v", "50"]
                        + stream.encoding + [path])
                try ReferenceCommand.ffmpeg(
                    stream.input + [
                        "-i", path, "-frames:v", "1", "-vf", stream.filters, "-pix_fmt",
                        stream.pixels, "-f", "rawvideo", path + ".yuv",
                    ])
            }
        }

        @Test(
            "Cameras that compress, or have odd sizes, are read: the pictures match ffmpeg's",
            arguments: streams)
        func fed(_ stream: Stream) throws {
            let node = "/dev/video41"
            let path = "\(VirtualMachine.exchange)/\(stream.file)"
            let expected = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".yuv")))
            let feeder = Process()
            feeder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            feeder.arguments =
                ["ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", "-1"] + stream.input
                + ["-framerate", "10", "-i", path, "-c", "copy", "-f", "v4l2", node]
            feeder.standardInput = FileHandle.nullDevice
            try feeder.run()
            // The writer may be blocked in the driver, and nothing else ends it. The next writer would get this one's
            // format as long as it runs.
            defer {
                kill(feeder.processIdentifier, SIGKILL)
                feeder.waitUntilExit()
            }
            // The module's own setting, so that no program opens the device while its writer does.
            let setting = "/sys/class/video4linux/video41/format"
            let waited = SuspendingClock.now
            while (try? String(contentsOfFile: setting, encoding: .utf8))?.hasPrefix(stream.format) != true,
                feeder.isRunning, SuspendingClock.now - waited < .seconds(120)
            { Thread.sleep(forTimeInterval: 0.2) }
            let camera = try TestCamera(V4L2Configuration(.node(node)))
            #expect(camera.format.container?.contains(stream.format) == true)
            for _ in 0..<3 {
                let packed = PictureFile.packed(try camera.next())
                let actual = [UInt8](try #require(packed))
                #expect(PictureComparison.psnr(actual, expected) >= stream.quality)
            }
            guard ["MJPG", "H264"].contains(stream.format) else { return }
            // The unchanged recording: packets of the file, from a key frame on.
            var demand = SourceDemand.everything
            (demand.packets, demand.pictures) = (true, false)
            camera.context.setDemand(demand)
            let file = try Data(contentsOf: URL(fileURLWithPath: path))
            for index in 0..<6 {
                let packet = try camera.nextPacket()
                #expect(packet.isKey || index > 0)
                #expect(packet.pts != nil && packet.dts != nil && packet.captureTime != nil)
                let bytes = Data(packet.data.bytes.indices.map { packet.data.bytes[$0] })
                #expect(file.range(of: bytes) != nil, "packet \(index) of \(bytes.count) bytes")
            }
        }

        @Test("inlet latency sends through a loopback and back; the loopback is a camera only while it is written")
        func latency() throws {
            struct Measured: Decodable {
                var pictures: Int
                var unreadable: Int
                var delay: [String: Double]

                enum CodingKeys: String, CodingKey {
                    case pictures, unreadable
                    case delay = "delay_ms"
                }
            }
            let output = try ReferenceCommand.run(
                VirtualMachine.inlet,
                [
                    "latency", "pattern:timecode?size=320x240&fps=10", "--via", "v4l2:/dev/video42", "--frames", "15",
                    "--json",
                ])
            let measured = try JSONDecoder().decode(Measured.self, from: output)
            #expect(measured.pictures == 15 && measured.unreadable == 0)
            #expect(measured.delay["least"].map { $0 > 0 } == true)
        }
    }
}
