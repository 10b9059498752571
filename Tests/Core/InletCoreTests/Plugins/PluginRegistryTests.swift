import InletCore
import Synchronization
import Testing

/// A configuration that only states which plug-in made it.
private struct NamedConfiguration: FrameSourceConfiguration, FrameSinkConfiguration {
    let redactedURI: String
    var description: String { redactedURI }
    var debugDescription: String { redactedURI }

    func makeSource() -> any FrameSource { Nothing() }
    func makeSink() -> any FrameSink { Nothing() }

    private final class Nothing: FrameSource, FrameSink {
        func open(_ context: SourceContext) throws -> SourceFormat {
            throw InletError(.unsupported, "Nothing to open.")
        }
        func next(_ context: SourceContext) throws -> SourceItem? { nil }
        func close() {}
        func consume(_ frame: VideoFrame) throws {}
    }
}

@Suite struct PluginRegistryTests {
    private static let fps = PluginOption("fps", default: 30, in: 1...240, "Rate")

    private func info(_ name: String, _ schemes: [String]) -> PluginInfo {
        PluginInfo(
            name: name, schemes: schemes, summary: "", usage: "", options: [Self.fps.description], examples: [])
    }

    private func source(_ name: String, _ schemes: String...) -> SourcePlugin {
        SourcePlugin(info(name, schemes)) { uri, values in
            NamedConfiguration(redactedURI: "\(name) \(uri.rest) \(values[Self.fps])")
        }
    }

    private var registry: PluginRegistry {
        var registry = PluginRegistry()
        registry.register(source("Pattern", "pattern"))
        registry.register(source("Network", "rtsp", "rtsps"))
        registry.register(
            SinkPlugin(info("Null", ["null"])) { uri, _ in NamedConfiguration(redactedURI: uri.redacted) })
        return registry
    }

    @Test("A source is found by any of its schemes, in upper or lower case, and gets its options")
    func finds() throws {
        #expect(try registry.source("pattern:smpte?fps=5").redactedURI == "Pattern smpte 5")
        #expect(try registry.source("RTSPS://host").redactedURI == "Network //host 30")
        #expect(try registry.sink("null:").redactedURI == "null:")
        #expect(registry.sources.map(\.info.name) == ["Pattern", "Network"])
        #expect(registry.sinks.map(\.info.name) == ["Null"])
    }

    /// A finder that counts its requests.
    private final class CountingFinder: PluginFinder {
        private let asked = Mutex<[String]>([])
        var schemes: [String] { asked.withLock { $0 } }
        private let plugin: SourcePlugin

        init(_ plugin: SourcePlugin) { self.plugin = plugin }

        func source(scheme: String) throws(InletError) -> SourcePlugin? {
            asked.withLock { $0.append(scheme) }
            if scheme == "twice" { throw InletError(.invalidConfiguration, "Two offer it.") }
            return plugin.info.schemes.contains(scheme) ? plugin : nil
        }

        func sink(scheme: String) throws(InletError) -> SinkPlugin? {
            asked.withLock { $0.append(scheme) }
            return nil
        }

        func sourceSchemes() -> [String] { plugin.info.schemes }
        func sinkSchemes() -> [String] { [] }
    }

    @Test("A finder is queried for schemes that no registered plug-in of either kind has, and for no others")
    func finder() throws {
        var registry = registry
        let finder = CountingFinder(source("Found", "found", "pattern", "null"))
        registry.finder = finder
        #expect(try registry.source("pattern:smpte").redactedURI == "Pattern smpte 30")
        #expect(try registry.sink("null:").redactedURI == "null:")
        #expect(throws: InletError.self) { try registry.source("null:") }
        #expect(throws: InletError.self) { try registry.sink("pattern:") }
        #expect(finder.schemes == [])
        #expect(try registry.source("FOUND:x?fps=7").redactedURI == "Found x 7")
        #expect(throws: InletError.self) { try registry.sink("found:") }
        #expect(finder.schemes == ["found", "found"])
    }

    @Test("A finder's refusal is an error about the URI, and its schemes are suggested")
    func finderErrors() throws {
        var registry = registry
        registry.finder = CountingFinder(source("Found", "found"))
        let refused = #expect(throws: InletError.self) { try registry.source("twice:x?password=a") }
        #expect(refused?.context.subject?.hasPrefix("twice:") == true)
        #expect(refused?.context.subject?.contains("password=a") == false)
        let unknown = #expect(throws: InletError.self) { try registry.source("fuond:") }
        #expect(unknown?.message.contains("Did you mean 'found:'?") == true)
        let other = #expect(throws: InletError.self) { try registry.sink("found:") }
        #expect(other?.message.contains("'found:' is not a sink.") == true)
    }

    @Test("A plug-in registered later replaces others in its schemes")
    func laterWins() throws {
        var registry = registry
        registry.register(source("Better", "rtsp"))
        #expect(try registry.source("rtsp://h").redactedURI == "Better //h 30")
        #expect(try registry.source("rtsps://h").redactedURI == "Network //h 30")
    }

    @Test("A registry is a value")
    func value() throws {
        let before = registry
        var after = before
        after.register(source("More", "more"))
        #expect(before.sources.count == 2)
        #expect(after.sources.count == 3)
    }

    @Test("An unknown scheme is refused with the nearest one, the known ones and advice about a colon")
    func unknownScheme() {
        let error = #expect(throws: InletError.self) { try registry.source("patern:smpte") }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.message == """
                There is no source 'patern:'. Did you mean 'pattern:'? Known are pattern: rtsp: rtsps:; \
                a file whose name has a colon is written file:NAME.
                """)
    }

    @Test("A sink used as a source is named by its kind in the error, and the other way round")
    func wrongKind() {
        let source = #expect(throws: InletError.self) { try registry.source("null:") }
        #expect(source?.message.hasPrefix("'null:' is not a source.") == true)
        let sink = #expect(throws: InletError.self) { try registry.sink("pattern:smpte") }
        #expect(sink?.message == "'pattern:' is not a sink. Known are null:.")
    }

    @Test(
        "The error for a sink path suggests the scheme of its extension",
        arguments: [
            ("a/b.null", "A path without a scheme is not a sink. Did you mean 'null:a/b.null'? Known are null:."),
            ("b.nul", "A path without a scheme is not a sink. Did you mean 'null:b.nul'? Known are null:."),
            ("b", "A path without a scheme is not a sink. Known are null:."),
            ("file:b.null", "There is no sink 'file:'. Known are null:."),
        ])
    func pathAsSink(uri: String, message: String) {
        let error = #expect(throws: InletError.self) { try registry.sink(uri) }
        #expect(error?.message == message)
    }

    @Test("A scheme with two plug-ins is listed once")
    func listedOnce() {
        var registry = registry
        registry.register(source("Better", "rtsp"))
        let error = #expect(throws: InletError.self) { try registry.source("zzzzzzzz:") }
        #expect(error?.message.contains("Known are pattern: rtsp: rtsps:;") == true)
    }

    @Test("A wrong option is refused before the plug-in sees it, and no password is shown")
    func wrongOption() {
        let error = #expect(throws: InletError.self) { try registry.source("rtsp://admin:hunter2@host?fsp=5") }
        #expect(error.map { "\($0)" } == "rtsp://***@host?fsp=***: rtsp: has no option 'fsp'. Did you mean 'fps'?")
    }
}

@Suite struct DecoderRegistryTests {
    private struct Packets: DecodingConfiguration {
        let redactedURI = "packets:"
        var decoders: [DecoderPlugin] = []
        var decoder: String?
        func makeSource() -> any FrameSource { NamedConfiguration(redactedURI: redactedURI).makeSource() }
    }

    private func registry(_ decoders: [String]) -> PluginRegistry {
        let option = PluginOption<String?>("decoder", default: nil, "")
        var registry = PluginRegistry()
        registry.register(
            SourcePlugin(
                PluginInfo(
                    name: "packets", schemes: ["packets"], summary: "", usage: "", options: [option.description],
                    examples: [])
            ) { _, values in Packets(decoder: values[option]) })
        for name in decoders {
            registry.register(
                DecoderPlugin(name, summary: "") { throw InletError(.unsupported, "It has only a name.") })
        }
        return registry
    }

    @Test("A source of packets gets the registered decoders, the last one of each name")
    func registered() throws {
        let source = try #require(try registry(["one", "two", "one"]).source("packets:") as? any DecodingConfiguration)
        #expect(source.decoders.map(\.name) == ["two", "one"])
        #expect(source.decoder == nil)
        let named = try registry(["one", "two"]).source("packets:?decoder=two") as? any DecodingConfiguration
        #expect(named?.decoder == "two")
    }

    @Test("An unregistered decoder is refused, with the nearest name")
    func unknown() throws {
        let error = #expect(throws: InletError.self) { try registry(["ffmpeg"]).source("packets:?decoder=ffmepg") }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("'ffmpeg'") == true)
    }
}
