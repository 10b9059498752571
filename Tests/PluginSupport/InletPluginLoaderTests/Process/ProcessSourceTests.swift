import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    @Suite struct ProcessSourceTests {
        @Test("Pictures, times, colours and options come as the child states them")
        func pictures() throws {
            let child = try ScriptedChild("item.rotation=90")
            let run = try SourceRun(child.configuration([("size", "70x50"), ("name", "wört")]))
            let format = try run.open()
            #expect(format.size == ImageSize(width: 70, height: 50))
            #expect(format.pacing == .live)
            #expect(format.timeBase == Rational(1, 90_000))
            #expect(format.frameRate == Rational(30))
            #expect(format.timestampBits == 32)
            #expect(format.container == "scripted")
            for index in 0..<20 {
                let frame = try #require(try run.frame())
                #expect(frame.sequence == UInt64(index))
                #expect(frame.pts == MediaTime(ticks: Int64(index) * 3000, timeBase: Rational(1, 90_000)))
                #expect(frame.colorSpace == ColorSpace.bt709)
                #expect(frame.rotation == .clockwise90)
                #expect(frame.flags == .key)
                #expect(frame.captureTime != nil)
                #expect(frame.wallClock == nil)
                #expect(Self.values(of: frame) == Self.expected(index))
            }
            #expect((run.source as? ProcessSource)?.copyCount == 0)
        }

        /// Returns the values of each plane, which are constant within the plane.
        static func values(of frame: SourceFrame) -> [Set<UInt8>] {
            (0..<frame.planes.count).map { index in
                guard let plane = frame.planes[index], let top = unsafe plane.topRow else { return [] }
                let size = index == 0 ? frame.size : frame.size.chroma
                var values: Set<UInt8> = []
                for row in 0..<size.height {
                    for column in 0..<size.width { unsafe values.insert(top[row * plane.stride + column]) }
                }
                return withExtendedLifetime(frame) { values }
            }
        }

        static func expected(_ index: Int) -> [Set<UInt8>] {
            [0, 50, 100].map { [UInt8((index + $0) % 256)] }
        }

        @Test("Held frames keep their values, the last slot is copied, and frames outlive their source")
        func held() throws {
            let child = try ScriptedChild("")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            var held: [SourceFrame] = []
            for _ in 0..<30 { held.append(try #require(try run.frame())) }
            // Seven of eight slots are lent.
            #expect((run.source as? ProcessSource)?.copyCount == 23)
            run.close()
            for (index, frame) in held.enumerated() { #expect(Self.values(of: frame) == Self.expected(index)) }
            held.removeAll()
            #expect(ProcessFacts.sharedMaps() == 0)
        }

        @Test("Slots are used again as soon as their frames are released, in any order")
        func released() throws {
            let child = try ScriptedChild("")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            var held: [SourceFrame] = []
            for index in 0..<200 {
                held.append(try #require(try run.frame()))
                if held.count > 5 { held.remove(at: index * 7 % 6) }
            }
            #expect((run.source as? ProcessSource)?.copyCount == 0)
            for frame in held { #expect(Self.values(of: frame) == Self.expected(Int(frame.sequence))) }
        }

        @Test("The size may change with every picture while frames of earlier sizes are held")
        func sizes() throws {
            let child = try ScriptedChild("sizes")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            var held: [SourceFrame] = []
            for _ in 0..<15 { held.append(try #require(try run.frame())) }
            #expect(held.prefix(5).map(\.size.width) == [64, 1280, 2, 333, 640])
            for (index, frame) in held.enumerated() { #expect(Self.values(of: frame) == Self.expected(index)) }
        }

        @Test("Packets are copied out with their parameter sets, and a gap in their numbers is counted")
        func packets() throws {
            let child = try ScriptedChild("packets,at=3,item.sequence=5,item.flags=5")
            let run = try SourceRun(child.configuration())
            let parameters = try #require(try run.open().packetStream).parameters
            #expect(parameters.codec == .h264)
            #expect(parameters.extraData == Array("sets".utf8))
            for index in 0..<4 {
                let packet = try #require(try run.source.next(run.context)?.packet)
                #expect((0..<packet.data.count).map { packet.data.bytes[$0] } == Array("packet \(index)".utf8))
                #expect(packet.isKey)
                #expect(packet.dts == packet.pts)
                #expect(packet.flags.contains(.loss) == (index == 3))
                #expect(packet.flags.contains(.discontinuity) == (index == 3))
            }
            #expect(run.context.dropCounts == [.lostBySource: 2])
        }

        @Test("The stream's end is nil, and a source without a picture for a while is read again")
        func end() throws {
            let child = try ScriptedChild("end=2,pace=700")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            run.context.setDeadline(after: .seconds(60))
            let child2 = try ScriptedChild("end=2")
            let run2 = try SourceRun(child2.configuration())
            _ = try run2.open()
            #expect(try run2.frame() != nil)
            #expect(try run2.frame() != nil)
            #expect(try run2.frame() == nil)
            // This child never has a frame within the first wait.
            run.cancel(after: .milliseconds(1200))
            #expect(SourceRun.error { _ = try run.frame() }?.code == .cancelled)
        }

        @Test("A source pauses and continues, and one that cannot reports so")
        func pause() throws {
            let child = try ScriptedChild("")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            #expect(try run.source.pause(run.context))
            try run.source.resume(run.context)
            #expect(try run.frame() != nil)
            for scenario in ["stream.pause=0", "error@pause,result=-6"] {
                let other = try ScriptedChild(scenario)
                let unable = try SourceRun(other.configuration())
                _ = try unable.open()
                #expect(try !unable.source.pause(unable.context))
            }
        }

        @Test("Drops, interruptions and log lines reach the bridge")
        func notes() throws {
            let child = try ScriptedChild("note@next,note=106,text=damaged,number=3")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            for _ in 0..<4 { _ = try run.frame() }
            #expect(run.context.dropCounts == [.damaged: 12])
            let shutter = try ScriptedChild("note@next,note=107,text=the shutter is shut")
            let shut = try SourceRun(shutter.configuration())
            _ = try shut.open()
            _ = try shut.frame()
            #expect(shut.interruptions.texts.withLock { $0 } == ["the shutter is shut", nil])
            let talker = try ScriptedChild("note@next,note=108,level=2,text=warm\u{1B}[2J")
            let talk = try SourceRun(talker.configuration())
            _ = try talk.open()
            _ = try talk.frame()
            #expect(talk.lines.all == ["warning scripted: warm\\u{1B}[2J"])
        }

        @Test("More than a hundred lines a second are counted, not written")
        func logFlood() throws {
            let child = try ScriptedChild("flood@next,flood=108,times=5000")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            _ = try run.frame()
            run.close()
            let lines = run.lines.all
            let shown = lines.count { $0.hasSuffix("scripted: again") }
            let withheld = lines.compactMap { line in
                line.hasSuffix("more lines within a second are not shown")
                    ? Int(line.split(separator: " ")[2]) : nil
            }
            #expect(shown + withheld.reduce(0, +) == 5000)
            #expect(shown < 5000)
        }

        @Test("A source in Inlet's own process keeps the contract of sources")
        func conformance() async throws {
            let child = try ScriptedChild("pace=10")
            #expect(await SourceConformance.check(child.configuration()) == [])
        }
    }
}
