import CInletPlugin
import Glibc
import InletPluginIPC
import ReferenceTools
import Testing

/// The requirements for loading a library, and the errors for libraries that do not meet them.
@Suite(.blocking) struct LoadingTests {
    private func probe(_ plugin: CompiledPlugin) throws -> inlet_wire_result {
        // Its file exists until then.
        try withExtendedLifetime(plugin) { try probe(plugin.path) }
    }

    private func probe(_ path: String) throws -> inlet_wire_result {
        let child = try PluginChild(["--probe", "--library", path])
        let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(try child.waitForEnd() == .exit(0))
        #expect(child.output == "")
        return result
    }

    @Test("a probe reports a plug-in's interfaces")
    func probes() throws {
        let bars = try probe(CompiledPlugin("bars", in: "Samples/CSource"))
        #expect(bars.result == INLET_OK)
        #expect(bars.text == "inlet.source/1")
        #expect(try probe(CompiledPlugin("counter")).text == "inlet.sink/1")
    }

    @Test(
        "a faulty entry has a clear error",
        arguments: [
            ("MAGIC=1", "INLET_PLUGIN_MAGIC"), ("MAJOR=2", "too new: it was built for version 2"),
            ("MAJOR=0", "too old: it was built for version 0"), ("MINOR=1", "too new: it needs version 1.1"),
            ("SIZE=24", "size of 24 bytes"), ("SIZE=0", "states no size"), ("INIT=0", "the function init of"),
            ("NEXT=0", "the function next of inlet.source/1"), ("INTERFACE_SIZE=24", "the function next of"),
            ("INTERFACE_SIZE=0", "states no size"), ("INIT_RESULT=-15", "No camera library here. Install it."),
            ("INIT_RESULT=3", "No camera library here."),
        ])
    func faults(macro: String, words: String) throws {
        let result = try probe(CompiledPlugin("entry", macros: [macro]))
        #expect(result.result == INLET_ERROR_PLUGIN)
        #expect(result.text.contains(words), "\(result.text)")
    }

    @Test("an interface without pause and resume, or with more than this version knows, is accepted")
    func sizes() throws {
        #expect(try probe(CompiledPlugin("entry")).text == "inlet.source/1")
        #expect(try probe(CompiledPlugin("entry", macros: ["SIZE=4096"])).result == INLET_OK)
    }

    @Test("a file that is not a library, or has no entry, has a clear error")
    func noLibrary() throws {
        let absent = try probe("/nowhere/x.so")
        #expect(absent.result == INLET_ERROR_PLUGIN)
        #expect(absent.text.contains("/nowhere/x.so"))
        let text = try probe(#filePath)
        #expect(text.text.contains("cannot be loaded"))
    }

    @Test("a library's fault is the answer to the first question")
    func faultAsAnswer() throws {
        let plugin = try CompiledPlugin("entry", macros: ["MAJOR=2"])
        let child = try PluginChild(["--library", plugin.path])
        let result = try child.create()
        #expect(result.result == INLET_ERROR_PLUGIN)
        #expect(result.text.contains("too new"))
        #expect(try child.waitForEnd() == .exit(1))
    }

    @Test("an interface that the plug-in does not have is an error")
    func absentInterface() throws {
        let plugin = try CompiledPlugin("entry")
        let child = try PluginChild(["--library", plugin.path])
        let result = try child.create(kind: INLET_KIND_SINK)
        #expect(result.result == INLET_ERROR_PLUGIN)
        #expect(result.text.contains("inlet.sink/1"))
    }

    @Test("the command line is explained, and a wrong one refused")
    func helpAndUsage() throws {
        let help = try ReferenceCommand.run(BuiltProgram.pluginHost, ["--help"])
        let text = String(decoding: help, as: UTF8.self)
        #expect(text.contains("inlet starts this program"))
        for words in [[], ["--library"], ["--without", "all"], ["--memory", "-1", "--library", "x"], ["--x"]] {
            let child = try PluginChild(words)
            #expect(try child.waitForEnd() == .exit(64))
            #expect(child.output.contains("inlet-plugin-host: "))
        }
    }
}
