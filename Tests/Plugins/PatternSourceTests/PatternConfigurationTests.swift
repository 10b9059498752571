import InletCore
import PatternSource
import Testing

struct PatternConfigurationTests {
    private let registry = {
        var registry = PluginRegistry()
        registry.register(SourcePlugin.pattern)
        return registry
    }()

    private func configuration(_ uri: String) throws -> PatternConfiguration {
        try #require(try registry.source(uri) as? PatternConfiguration)
    }

    @Test("a URI gives the corresponding configuration")
    func parsing() throws {
        #expect(try configuration("pattern:smpte") == PatternConfiguration())
        #expect(try configuration("pattern:") == PatternConfiguration())
        #expect(
            try configuration("pattern:ball?size=641x481&fps=30000/1001&frames=9&pace=none&seed=5&buffers=3")
                == PatternConfiguration(
                    .ball, size: ImageSize(width: 641, height: 481), frameRate: Rational(30000, 1001), frames: 9,
                    pace: .unpaced, seed: 5, buffers: 3))
        #expect(
            try configuration("pattern:solid?color=#FF8000").color == .rgb(red: 255, green: 128, blue: 0))
        #expect(try configuration("pattern:solid?color=%23ff8000").color == .rgb(red: 255, green: 128, blue: 0))
        #expect(try configuration("pattern:solid?color=16,200,128").color == .yuv(y: 16, u: 200, v: 128))
    }

    @Test(
        "the URI of a configuration gives that configuration again",
        arguments: TestPattern.allCases.map { PatternConfiguration($0) } + [
            PatternConfiguration(
                .solid, size: ImageSize(width: 100, height: 77), frameRate: Rational(1, 7), frames: 1, pace: .unpaced,
                seed: .max, color: .rgb(red: 1, green: 2, blue: 255), buffers: 30)
        ])
    func roundTrip(original: PatternConfiguration) throws {
        #expect(try configuration(original.redactedURI) == original)
    }

    @Test(
        "an impossible configuration is refused with a remedy",
        arguments: [
            ("pattern:smtpe", "smpte"), ("pattern:smpte?sise=64x64", "size"),
            ("pattern:smpte?size=0x0", "16x16 to 8192x8192"), ("pattern:smpte?size=15x16", "16x16"),
            ("pattern:smpte?size=8193x16", "8192x8192"), ("pattern:smpte?fps=0", "1/1000 to 1000"),
            ("pattern:smpte?fps=-1", "1/1000"), ("pattern:smpte?fps=1001", "1000"), ("pattern:smpte?fps=1/0", "fps"),
            ("pattern:smpte?pace=live", "realtime | none"), ("pattern:smpte?frames=-1", "frames"),
            ("pattern:solid?color=300,0,0", "#RRGGBB"), ("pattern:solid?color=#12345", "Y,U,V"),
            ("pattern:solid?color=#\u{FF21}\u{FF22}", "Y,U,V"), ("pattern:solid?color=1,\u{661},3", "Y,U,V"),
            ("pattern:smpte?buffers=1", "2 to 1024"), ("pattern:timecode?size=63x64", "64x64"),
            ("pattern:timecode?size=63x640", "64x64"),
        ])
    func refusal(uri: String, advice: String) {
        let error = #expect(throws: InletError.self) { try configuration(uri) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
    }

    @Test("a configuration made in Swift is checked, too")
    func validation() {
        for wrong in [
            PatternConfiguration(size: ImageSize(width: 15, height: 16)),
            PatternConfiguration(.ball, size: ImageSize(width: 0, height: -1)),
            PatternConfiguration(frameRate: Rational(0)),
            PatternConfiguration(buffers: 0), PatternConfiguration(.timecode, size: ImageSize(width: 64, height: 63)),
        ] {
            #expect(throws: InletError.self) { try wrong.validate() }
            #expect(throws: InletError.self) { try PatternRun(wrong) }
        }
    }

    @Test("the plug-in's examples work")
    func examples() throws {
        for example in SourcePlugin.pattern.info.examples { _ = try configuration(example) }
    }
}
