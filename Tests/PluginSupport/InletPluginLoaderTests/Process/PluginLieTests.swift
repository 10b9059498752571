import InletCore
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    @Suite struct PluginLieTests {
        @Test(
            "An impossible statement ends the source with a sentence that names it",
            arguments: [
                ("stream.width=0", "0x48 pixels"), ("stream.height=16385", "64x16385 pixels"),
                ("stream.pacing=3", "pacing 3"), ("stream.base.n=0", "no time base"),
                ("stream.base.d=-1", "time base of 1/-1"), ("stream.rate.n=-30", "frame rate of -30/1"),
                ("stream.aspect.d=-1", "sample aspect ratio of 1/-1"), ("stream.format=", "neither a pixel format"),
                ("stream.format=yuv 420", "pixel format whose name"), ("stream.codec=\u{E4}", "codec whose name"),
                ("stream.format=aaaaaaaaaaaaaaaaaaaaaaaa", "pixel format whose name"),
                ("stream.primaries=23", "unknown colour 23"), ("stream.range=3", "unknown colour"),
                ("stream.rotation=45", "rotation of 45"), ("stream.bits=65", "PTS of 65 bits"),
                ("stream.duration=-1", "duration of -1"), ("stream.sets=5", "parameter sets of 5 bytes"),
                ("stream.reorder=65", "reordering of 65"),
                ("item.width=0", "0x48 pixels"), ("item.height=16385", "64x16385"), ("item.width=4294967295", "pixels"),
                ("item.width=70", "plane 0 lies outside of its memory"), ("item.height=16384", "plane 0 lies outside"),
                ("item.format=", "without a pixel format"), ("item.format=a/b", "pixel format whose name"),
                ("item.format=yuv422p,item.offset2=6000", "plane 2 lies outside"),
                ("item.format=nv12,item.planes=1", "nv12 with 1 planes"), ("item.planes=0", "with 0 planes"),
                ("item.planes=5", "with 5 planes"), ("item.format=strange,item.planes=0", "strange with 0 planes"),
                ("item.offset0=18446744073709551615", "plane 0 lies outside"),
                ("item.offset2=9223372036854775807", "plane 2 lies outside"),
                ("item.stride0=9223372036854775807", "plane 0 lies outside"),
                ("item.stride1=-9223372036854775808", "plane 1 lies outside"),
                ("item.stride0=-64", "plane 0 lies outside"), ("item.stride0=63", "plane 0 lies outside"),
                ("item.stride0=0", "plane 0 lies outside"), ("item.offset2=10000", "plane 2 lies outside"),
                ("item.slot=8", "slot 8, which it was not given"), ("item.slot=64", "slot 64"),
                ("item.slot=4294967295", "slot 4294967295"), ("item.segment=0", "memory 0"),
                ("item.segment=2", "memory 2"), ("item.rotation=1", "rotation of 1"),
                ("item.aspect.n=-1", "sample aspect ratio of -1/1"), ("item.matrix=200", "unknown colour"),
                ("item.flags=16", "unknown flags 16"), ("item.duration=-5", "duration of -5"),
                ("at=2,item.sequence=1", "sequence number 1 after 1"),
                ("at=2,item.sequence=0", "sequence number 0 after 1"), ("item.capture=-1", "time of exposure"),
                ("item.capture=9000000000000000000", "time of exposure"),
                ("item.packet=1", "its format is of pictures"),
                ("packets,item.packet=0", "its format is of packets"), ("packets,item.length=0", "packet of 0 bytes"),
                ("packets,item.length=4097", "packet of 4097 bytes"),
                ("packets,item.length=18446744073709551615", "packet of 18446744073709551615 bytes"),
                ("packets,item.sets=1", "parameter sets of 1 bytes"),
                ("need=0", "memory that it already has"), ("need=18446744073709551615", "it may share at most"),
                ("need=33554433", "it may share at most"), ("note@next,note=109", "key frame"),
                ("note@next,note=106,text=two words", "one word"), ("note@next,note=106", "one word"),
                ("note@next,note=107,text=\u{FF}", "not UTF-8"), ("note@next,note=108,level=4", "level 4"),
                ("flood@next", "10000 notes"), ("flood@open,flood=106", "10000 notes"), ("type@create", "type 999"),
                ("type@open,type=103", "type 103"), ("type@next,type=102", "type 102"), ("type@next,type=3", "type 3"),
                ("short@create", "shorter than"), ("short@open", "shorter than"), ("short@next", "shorter than"),
                ("long@open", "more than 131072 bytes"), ("error@create,result=1", "result 1"),
                ("error@open,result=2", "result 2"), ("error@next,result=3", "result 3"),
                ("error@open,result=-18", "unknown result -18"), ("error@open,result=-2147483648", "unknown result"),
                ("error@open,message=\u{FF}", "not UTF-8"), ("error@next,result=-17", "but was not cancelled"),
            ] as [(String, String)])
        func lies(scenario: String, sentence: String) throws {
            let error = try PluginProcessTests.PluginDeathTests.error(of: scenario)
            #expect(error.code == .pluginRejected)
            #expect(error.message.hasPrefix("The plug-in scripted "))
            #expect(error.message.contains(sentence), "\(error.message)")
        }

        @Test("Random bytes are never accepted as an answer", arguments: PluginProcessTests.PluginDeathTests.steps)
        func garbage(step: String) throws {
            for length in [1, 3, 4, 16, 208, 552, 4000] {
                let error = try PluginProcessTests.PluginDeathTests.error(of: "garbage@\(step),length=\(length)")
                #expect(error.code == .pluginRejected)
            }
        }

        @Test("The shared memory cannot be made shorter")
        func shrink() throws {
            let child = try ScriptedChild("shrink")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            for index in 0..<3 {
                let frame = try #require(try run.frame())
                #expect(
                    PluginProcessTests.ProcessSourceTests.values(of: frame)
                        == PluginProcessTests.ProcessSourceTests.expected(index))
            }
        }

        @Test("A slot that a frame holds cannot be filled again")
        func heldSlot() throws {
            let child = try ScriptedChild("at=1,item.slot=0")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            let frame = try #require(try run.frame())
            let error = SourceRun.error { _ = try run.frame() }
            #expect(error?.message.contains("slot 0, which it was not given") == true)
            #expect(
                PluginProcessTests.ProcessSourceTests.values(of: frame)
                    == PluginProcessTests.ProcessSourceTests.expected(0))
        }

        @Test("A picture stored bottom up, and one of an unknown format, are accepted unchanged")
        func unusual() throws {
            let upward = try ScriptedChild("item.offset0=3008,item.stride0=-64")
            let run = try SourceRun(upward.configuration())
            _ = try run.open()
            let frame = try #require(try run.frame())
            #expect(frame.planes[0]?.stride == -64)
            #expect(
                PluginProcessTests.ProcessSourceTests.values(of: frame)
                    == PluginProcessTests.ProcessSourceTests.expected(0))
            let strange = try ScriptedChild("item.format=strange,item.planes=1")
            let other = try SourceRun(strange.configuration())
            _ = try other.open()
            #expect(try other.frame()?.pixelFormat.name == "strange")
        }
    }
}
