import InletCore
import InletTesting
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    /// The output of C plug-ins, run with `inlet-plugin-host` and in this process.
    @Suite struct CompiledSourceTests {
        /// Recomputes the bars that `Samples/CSource` draws.
        static func bars(_ index: Int, _ size: ImageSize) -> [[UInt8]] {
            let colors: [[UInt8]] = [
                [180, 128, 128], [162, 44, 142], [131, 156, 44], [112, 72, 58], [84, 184, 198], [65, 100, 212],
                [35, 212, 114], [16, 128, 128],
            ]
            return (0..<3).map { plane in
                let extent = plane == 0 ? size : size.chroma
                let row = (0..<extent.width).map { column in
                    colors[(0..<8).last { extent.width * $0 / 8 <= column } ?? 0][plane]
                }
                let line = [UInt8](repeating: 235, count: extent.width)
                return (0..<extent.height).flatMap { plane == 0 && $0 == index % extent.height ? line : row }
            }
        }

        /// Returns the samples of each plane, without padding.
        static func samples(of frame: SourceFrame) -> [[UInt8]] {
            (0..<frame.planes.count).map { index in
                guard let plane = frame.planes[index], let top = unsafe plane.topRow else { return [] }
                let size = index == 0 ? frame.size : frame.size.chroma
                let all = (0..<size.height).flatMap { row in
                    (0..<size.width).map { unsafe top[row * plane.stride + $0] }
                }
                return withExtendedLifetime(frame) { all }
            }
        }

        @Test("Every sample of a picture is as the plug-in has drawn it", arguments: [false, true])
        func pictures(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Samples/CSource/bars.c")
            for size in [ImageSize(width: 64, height: 48), ImageSize(width: 101, height: 35)] {
                let run = try SourceRun(
                    plugin.source([("size", "\(size)"), ("rate", "500")], isInProcess: isInProcess))
                let format = try run.open()
                #expect(format.size == size)
                #expect(format.pacing == .realtime)
                #expect(format.frameRate == Rational(500))
                #expect(format.colorSpace == .bt601)
                var held: [SourceFrame] = []
                for _ in 0..<20 { held.append(try #require(try run.frame())) }
                run.close()
                for (index, frame) in held.enumerated() {
                    #expect(Self.samples(of: frame) == Self.bars(index, size))
                    #expect(frame.pts == MediaTime(ticks: Int64(index), timeBase: Rational(1, 500)))
                }
            }
        }

        @Test("A source in C keeps the contract of sources", arguments: [false, true])
        func conformance(isInProcess: Bool) async throws {
            let plugin = try CompiledPlugin("Samples/CSource/bars.c")
            var suite = SourceConformance()
            suite.isDeterministic = true
            let options = [(name: "size", value: "64x48"), (name: "rate", value: "100")]
            #expect(await suite.check(plugin.source(options, isInProcess: isInProcess)) == [])
        }

        @Test("A plug-in's own error arrives with its code and sentence", arguments: [false, true])
        func ownError(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Samples/CSource/bars.c")
            let run = try SourceRun(plugin.source([("rate", "0")], isInProcess: isInProcess))
            let error = SourceRun.error { _ = try run.open() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message == "The rate is out of range. Use 1 to 1000.")
        }

        @Test("Memory lent by a plug-in is not copied in process, and is released with its frame")
        func lent() throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/lender.c")
            let run = try SourceRun(plugin.source(isInProcess: true))
            _ = try run.open()
            var held: [SourceFrame] = []
            for _ in 0..<100 { held.append(try #require(try run.frame())) }
            // The plug-in releases no frame while all are held.
            #expect(held.allSatisfy { $0.wallClock == 0 })
            for (index, frame) in held.enumerated() {
                #expect(Set(Self.samples(of: frame).joined()) == [UInt8(index)])
            }
            held.removeFirst(60)
            #expect(try run.frame()?.wallClock == 60)
            run.close()
            // Held frames outlive their source.
            #expect(Set(Self.samples(of: held[0]).joined()) == [60])
        }

        @Test("Memory lent by a plug-in is copied in a separate process, and released at once")
        func lentAside() throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/lender.c")
            let run = try SourceRun(plugin.source())
            _ = try run.open()
            for index in 0..<20 {
                let frame = try #require(try run.frame())
                #expect(frame.wallClock == Int64(index))
                #expect(Set(Self.samples(of: frame).joined()) == [UInt8(index)])
            }
        }

        @Test("Packets come with their bytes and parameter sets", arguments: [false, true])
        func packets(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/items.c")
            let run = try SourceRun(plugin.source([("item", "packet")], isInProcess: isInProcess))
            let parameters = try #require(try run.open().packetStream).parameters
            #expect(parameters.extraData == [1, 2, 3])
            for index in 0..<5 {
                let packet = try #require(try run.source.next(run.context)?.packet)
                let bytes = (0..<packet.data.count).map { packet.data.bytes[$0] }
                #expect(bytes == [UInt8](repeating: UInt8(index), count: 101 + index))
                #expect(packet.dts?.ticks == Int64(index) - 1)
                #expect(packet.parameters.extraData.count == (index == 0 ? 3 : 7))
            }
            run.close()
            #expect(run.context.dropCounts == [DropReason("released"): 5])
        }

        @Test("A request for a key frame reaches the plug-in, which answers it once", arguments: [false, true])
        func keyFrames(isInProcess: Bool) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/items.c")
            let run = try SourceRun(plugin.source([("item", "packet")], isInProcess: isInProcess))
            _ = try run.open()
            func keys(among count: Int) throws -> [Bool] {
                try (0..<count).map { _ in try #require(try run.source.next(run.context)?.packet).isKey }
            }
            #expect(try keys(among: 5).allSatisfy { !$0 })
            for _ in 0..<10 { run.context.requestKeyFrame() }
            #expect(try keys(among: 5) == [true, false, false, false, false])
        }

        @Test(
            "Inconsistent descriptions are refused, in process as well",
            arguments: [
                "empty-packet", "result", "result-negative", "format", "no-zero", "size", "zero", "plane-count",
                "plane-null", "plane-length", "plane-offset", "plane-stride", "plane-overlap", "slot-stolen",
                "slot-other-size",
            ])
        func lies(item: String) throws {
            let plugin = try CompiledPlugin("Tests/TestPlugins/items.c")
            for isInProcess in [false, true] {
                // In process, Inlet accepts a third plane and all formats that FFmpeg may know.
                if isInProcess, ["plane-count", "format"].contains(item) { continue }
                let run = try SourceRun(plugin.source([("item", item)], isInProcess: isInProcess))
                _ = try run.open()
                let error = SourceRun.error { _ = try run.frame() }
                #expect(error?.code == .pluginRejected, "\(item), \(isInProcess): \(error?.message ?? "no error")")
            }
        }

        @Test("A probe of a library reports what it offers, or why it cannot be loaded")
        func probe() throws {
            let bars = try CompiledPlugin("Samples/CSource/bars.c")
            #expect(try bars.program().probe(within: .seconds(60)) == ["inlet.source/1"])
            let writer = try CompiledPlugin("Tests/TestPlugins/writer.c")
            #expect(try writer.program().probe(within: .seconds(60)) == ["inlet.sink/1"])
            var absent = bars.program()
            absent.code = .library("/no/such.so")
            let error = SourceRun.error { _ = try absent.probe(within: .seconds(60)) }
            #expect(error?.code == .pluginRejected)
        }
    }
}
