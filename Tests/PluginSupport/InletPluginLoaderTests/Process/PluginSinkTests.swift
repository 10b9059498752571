import Foundation
import Glibc
import InletCore
import InletTesting
import ReferenceTools
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    @Suite struct PluginSinkTests {
        private static let timeBase = Rational(1, 25)

        /// Returns a picture whose planes contain values that depend on the number.
        private static func frame(_ index: Int, _ size: ImageSize) throws -> VideoFrame {
            let pool = I420BufferPool(capacity: 1)
            var draft = try pool.makeBuffer(size: size)
            draft.fill(y: UInt8(index), u: UInt8(100 + index), v: UInt8(200 + index))
            return VideoFrame(
                buffer: draft.publish(), timestamp: MonotonicTime(nanoseconds: Int64(index)),
                pts: MediaTime(ticks: Int64(index), timeBase: timeBase), sequence: UInt64(index),
                colorSpace: .bt709, sampleAspectRatio: nil)
        }

        private static func expected(_ index: Int, _ size: ImageSize) -> [UInt8] {
            let (luma, chroma) = (size.width * size.height, size.chroma.width * size.chroma.height)
            return [UInt8](repeating: UInt8(index), count: luma)
                + [UInt8](repeating: UInt8(100 + index), count: chroma)
                + [UInt8](repeating: UInt8(200 + index), count: chroma)
        }

        @Test("Every sample reaches the plug-in, with any sequence of sizes", arguments: [false, true])
        func pictures(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/writer.c")
            let file = plugin.folder.path("out")
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            let sink = plugin.sink(to: file, isInProcess: isInProcess).makeSink()
            let sizes = [(64, 48), (63, 49), (1280, 720), (2, 2)].map { ImageSize(width: $0.0, height: $0.1) }
            try sink.start(VideoFormat(size: sizes[0], timeBase: Self.timeBase), SinkContext())
            #expect(sink.wants == SinkWants(rotation: .applied))
            var expected: [UInt8] = []
            for index in 0..<12 {
                let size = sizes[index / 3]
                try sink.consume(Self.frame(index, size))
                expected += Self.expected(index, size)
            }
            try sink.finish()
            let written = try #require(FileManager.default.contents(atPath: file))
            #expect(Array(written) == expected + Array("end".utf8))
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("A sink writes to a file that does not exist, and to one that does", arguments: [false, true])
        func newFile(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/writer.c")
            let file = plugin.folder.path("new")
            for _ in 0..<2 {
                let sink = plugin.sink(toNew: file, isInProcess: isInProcess).makeSink()
                let size = ImageSize(width: 64, height: 48)
                try sink.start(VideoFormat(size: size, timeBase: Self.timeBase), SinkContext())
                try sink.consume(Self.frame(1, size))
                try sink.finish()
                let written = try #require(FileManager.default.contents(atPath: file))
                #expect(Array(written) == Self.expected(1, size) + Array("end".utf8))
            }
        }

        @Test("Any target except a new file is refused before the plug-in starts", arguments: [false, true])
        func noNewFile(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/writer.c")
            let manager = FileManager.default
            let target = plugin.folder.path("target")
            try manager.createSymbolicLink(atPath: plugin.folder.path("link"), withDestinationPath: target)
            try manager.createDirectory(atPath: plugin.folder.path("folder"), withIntermediateDirectories: false)
            #expect(unsafe mkfifo(plugin.folder.path("pipe"), 0o600) == 0)
            for (name, code) in [
                ("link", InletError.Code.pluginRejected), ("folder", .pluginRejected), ("pipe", .pluginRejected),
                ("missing/file", .notFound),
            ] {
                let sink = plugin.sink(toNew: plugin.folder.path(name), isInProcess: isInProcess).makeSink()
                let error = SourceRun.error {
                    try sink.start(
                        VideoFormat(size: ImageSize(width: 64, height: 48), timeBase: Self.timeBase), SinkContext())
                }
                #expect(error?.code == code, "\(name): \(error?.message ?? "no error")")
            }
            #expect(!manager.fileExists(atPath: target))
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("Packets and parameter sets reach the plug-in, and it gets a key frame", arguments: [false, true])
        func packets(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/writer.c")
            let file = plugin.folder.path("out")
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            let configuration = PluginPacketSinkConfiguration(
                plugin.sink(to: file, [("packets", "1")], isInProcess: isInProcess))
            let sink = configuration.makePacketSink()
            try sink.start(
                CodecParameters(
                    codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Self.timeBase,
                    extraData: Array("sets".utf8)))
            for index in 0..<3 {
                let time = MediaTime(ticks: Int64(index), timeBase: Self.timeBase)
                let bytes = [UInt8](repeating: UInt8(65 + index), count: 5000 * (index + 1))
                try sink.write(
                    EncodedPacket(
                        data: PacketData(bytes), pts: time, dts: time, isKey: index == 0,
                        captureTime: MonotonicTime(nanoseconds: 1)))
                #expect(sink.wantsKeyFrame)
            }
            try sink.finish()
            let written = try #require(FileManager.default.contents(atPath: file))
            var expected = Data("sets".utf8)
            for index in 0..<3 { expected += Data(repeating: UInt8(65 + index), count: 5000 * (index + 1)) }
            #expect(written == expected + Data("end".utf8))
        }

        @Test("A sink stops when it has enough, and reports why it cannot start", arguments: [false, true])
        func ends(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/writer.c")
            let file = plugin.folder.path("out")
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            let size = ImageSize(width: 16, height: 16)
            let format = VideoFormat(size: size, timeBase: Self.timeBase)
            let sink = plugin.sink(to: file, [("end", "2")], isInProcess: isInProcess).makeSink()
            try sink.start(format, SinkContext())
            try sink.consume(Self.frame(0, size))
            try sink.consume(Self.frame(1, size))
            #expect(throws: SinkStopped.self) { try sink.consume(Self.frame(2, size)) }
            try sink.finish()
            let unusable = plugin.sink(to: "/no/such/file", isInProcess: isInProcess).makeSink()
            let error = SourceRun.error { try unusable.start(format, SinkContext()) }
            #expect(error?.code == .permissionDenied)
            let packets = plugin.sink(to: file, [("packets", "1")], isInProcess: isInProcess).makeSink()
            #expect(SourceRun.error { try packets.start(format, SinkContext()) }?.code == .unsupported)
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("A sink in a separate process fails with that process's error")
        func deaths() throws {
            let size = ImageSize(width: 16, height: 16)
            for (scenario, code) in [
                ("signal@consume,code=11", InletError.Code.disconnected), ("exit@start", .disconnected),
                ("hang@consume", .timedOut), ("hang@create", .timedOut), ("type@consume", .pluginRejected),
                ("error@consume,result=-12", .inputOutput), ("error@start,result=-18", .pluginRejected),
                ("note@consume,note=106,text=a", .pluginRejected), ("wants.packets=1", .unsupported),
                ("wants.width=16385", .pluginRejected), ("wants.rate=-1", .pluginRejected),
            ] {
                let child = try ScriptedChild(scenario)
                var configuration = PluginSinkConfiguration(
                    program: child.program(), scheme: "scripted", address: "", options: [],
                    redactedURI: "scripted:")
                configuration.timeout = scenario.hasPrefix("hang") ? .seconds(1) : .seconds(60)
                let sink = configuration.makeSink()
                let error = SourceRun.error {
                    try sink.start(VideoFormat(size: size, timeBase: Self.timeBase), SinkContext())
                    for index in 0..<3 { try sink.consume(Self.frame(index, size)) }
                }
                #expect(error?.code == code, "\(scenario): \(error?.message ?? "no error")")
                try? sink.finish()
                #expect(ProcessFacts.children().isEmpty)
            }
        }

        @Test("A sink that does not finish in time is an error")
        func finishing() throws {
            let child = try ScriptedChild("hang@close")
            var configuration = PluginSinkConfiguration(
                program: child.program(), scheme: "scripted", address: "", options: [], redactedURI: "scripted:")
            configuration.finish = .milliseconds(300)
            let sink = configuration.makeSink()
            let size = ImageSize(width: 16, height: 16)
            try sink.start(VideoFormat(size: size, timeBase: Self.timeBase), SinkContext())
            try sink.consume(Self.frame(0, size))
            #expect(SourceRun.error { try sink.finish() }?.code == .inputOutput)
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("A sink in C keeps the contract of sinks", arguments: [false, true])
        func conformance(isInProcess: Bool) async throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/writer.c")
            let folder = plugin.folder
            let violations = await SinkConformance.check {
                let file = folder.path(UUID().uuidString)
                _ = FileManager.default.createFile(atPath: file, contents: nil)
                return plugin.sink(to: file, isInProcess: isInProcess)
            }
            #expect(violations == [])
        }
    }
}
