import Foundation
import InletCore
import Testing

@testable import InletPluginLoader

@Suite struct PluginDiscoveryTests {
    private let installed: InstalledPlugins

    init() throws { installed = try InstalledPlugins() }

    private func message(_ registry: PluginRegistry, _ uri: String) -> String {
        do {
            _ = try registry.source(uri)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("A registry makes a source of an installed plug-in, and probes only that one")
    func source() throws {
        try installed.install("acme")
        try installed.install("bars", offers: ["sources", "sinks"], extra: ", \"permissions\": [\"network\"]")
        let registry = installed.registry()
        let made = try #require(try registry.source("bars:somewhere") as? PluginSourceConfiguration)
        #expect(made.address == "somewhere")
        #expect(made.scheme == "bars")
        #expect(made.program.name == "bars")
        #expect(made.program.code == .library(installed.path("a/bars.so")))
        #expect(made.program.permissions == PluginPermissions(network: true))
        #expect(!made.isInProcess)
        #expect(installed.probed == ["bars"])
        #expect(try registry.sink("bars:") is PluginSinkConfiguration)
        #expect(message(registry, "nothing:").contains("Known are acme: bars:"))
        #expect(message(registry, "acmee:").contains("Did you mean 'acme:'"))
    }

    @Test("A sink takes pictures, or packets if its manifest states so")
    func sinks() throws {
        try installed.install("acme", offers: ["sinks"])
        let packets =
            "\"library\": \"bars.so\", \"sinks\": [{\"schemes\": [\"bars\"], \"usage\": \"bars:\", \"takes\": \"packets\"}]"
        try installed.install("bars", offers: [], code: packets)
        let registry = installed.registry()
        #expect(try registry.sink("acme:") is PluginSinkConfiguration)
        #expect(try registry.sink("bars:x") is any PacketSinkConfiguration)
    }

    @Test("If two plug-ins have one name, the first folder's is used, and the other is listed as shadowed")
    func shadowing() throws {
        try installed.install("acme", in: "b")
        try installed.install("acme", in: "a")
        let inventory = installed.discovery().inventory()
        #expect(inventory.plugins.map(\.file) == [installed.path("a/acme.inlet.json")])
        #expect(
            inventory.shadowed == [
                ShadowedPlugin(
                    name: "acme", file: installed.path("b/acme.inlet.json"),
                    usedFile: installed.path("a/acme.inlet.json"))
            ])
    }

    @Test("A broken plug-in shadows others, too: which one is used does not depend on which is broken")
    func brokenShadows() throws {
        try installed.install("acme", in: "b")
        try installed.write("a/acme.inlet.json", "{")
        let inventory = installed.discovery().inventory()
        #expect(inventory.plugins.isEmpty)
        #expect(inventory.broken.map(\.file) == [installed.path("a/acme.inlet.json")])
        #expect(inventory.shadowed.map(\.file) == [installed.path("b/acme.inlet.json")])
        #expect(message(installed.registry(), "acme:").contains("a/acme.inlet.json"))
    }

    @Test("Folders are reported as searched, absent or refused; the same folder twice finds nothing twice")
    func folders() throws {
        try installed.install("acme")
        try installed.link("again", to: installed.path("a"))
        var discovery = installed.discovery()
        discovery.folders = [installed.path("a"), installed.path("again"), installed.path("none"), "relative"]
        let inventory = discovery.inventory()
        #expect(inventory.folders.map(\.path) == discovery.folders)
        #expect(inventory.folders.prefix(3).map(\.state) == [.searched, .searched, .absent])
        guard case .refused(let reason) = inventory.folders[3].state else {
            Issue.record("a relative folder was searched")
            return
        }
        #expect(reason.contains("absolute"))
        #expect(inventory.plugins.count == 1)
        #expect(inventory.shadowed.isEmpty)
    }

    @Test("The folders are those of the variable, then the user's, then the system's")
    func standardPaths() {
        #expect(
            PluginFolder.paths(listed: "/x::/y:", home: "/home/me") == [
                "/x", "/y", "/home/me/.local/lib/inlet", "/usr/local/lib/inlet", "/usr/lib/inlet",
            ])
        #expect(PluginFolder.paths(listed: nil, home: "me") == ["/usr/local/lib/inlet", "/usr/lib/inlet"])
    }

    @Test("A scheme that two plug-ins offer belongs to neither, and the error names both")
    func conflict() throws {
        try installed.install("acme", scheme: "cam")
        try installed.install("bars", in: "b", scheme: "cam")
        let error = #expect(throws: InletError.self) { try installed.registry().source("cam:1") }
        #expect(error?.code == .invalidConfiguration)
        for word in ["acme", "bars", installed.path("a/acme.inlet.json"), installed.path("b/bars.inlet.json")] {
            #expect(error?.message.contains(word) == true)
        }
        #expect(installed.probed.isEmpty)
        let inventory = installed.discovery().inventory()
        #expect(
            inventory.conflicts == [
                SchemeConflict(scheme: "cam", isSink: false, plugins: ["acme", "bars"], isReserved: false)
            ])
    }

    @Test("A scheme of the registry stays the registry's, and no plug-in is looked up")
    func reserved() throws {
        try installed.install("acme", scheme: "own")
        var registry = installed.registry()
        registry.register(
            SinkPlugin(
                PluginInfo(name: "Own", schemes: ["own"], summary: "", usage: "", options: [], examples: [])
            ) { _, _ in throw InletError(.unsupported, "the registry's own") })
        #expect(throws: InletError.self) { try registry.source("own:") }
        let error = #expect(throws: InletError.self) { try registry.sink("own:") }
        #expect(error?.code == .unsupported)
        #expect(installed.probed.isEmpty)
        let conflicts = installed.discovery().inventory(reserved: registry.schemes).conflicts
        #expect(conflicts.map(\.isReserved) == [true])
        #expect(conflicts.first?.explanation.contains("acme") == true)
    }

    @Test("A plug-in without the interface that its manifest needs is broken")
    func interfaces() throws {
        try installed.install("acme", offers: ["sources", "sinks"])
        let discovery = installed.discovery(interfaces: ["inlet.source/1"])
        let broken = discovery.inventory().broken
        #expect(broken.map(\.name) == ["acme"])
        #expect(broken.first?.reason.message.contains("inlet.sink/1") == true)
        #expect(message(installed.registry(discovery), "acme:").contains("inlet.sink/1"))
    }

    @Test("A plug-in that fails its probe is never used, not even in this process, and is probed again later")
    func failure() throws {
        try installed.install("acme")
        var discovery = installed.discovery(failure: InletError(.disconnected, "It ended by SIGSEGV."))
        discovery.inProcess = ["acme"]
        #expect(discovery.inventory().broken.first?.reason.message.contains("SIGSEGV") == true)
        let text = message(installed.registry(discovery), "acme:")
        #expect(text.contains("SIGSEGV") && text.contains("acme.inlet.json"))
        #expect(installed.probed == ["acme", "acme"])
    }

    @Test("The user's settings arrive: in process, layers, the host")
    func choices() throws {
        try installed.install("acme", extra: ", \"memory\": \"1GiB\"")
        var discovery = installed.discovery()
        discovery.inProcess = ["acme"]
        discovery.withoutLayers = ["acme": ["landlock"]]
        discovery.hostPath = "/somewhere/inlet-plugin-host"
        try discovery.validate()
        let made = try #require(try installed.registry(discovery).source("acme:") as? PluginSourceConfiguration)
        #expect(made.isInProcess)
        #expect(made.program.withoutLayers == ["landlock"])
        #expect(made.program.hostPath == "/somewhere/inlet-plugin-host")
        #expect(made.program.memoryLimit == 1 << 30)
    }

    @Test("Choosing a plug-in or layer that does not exist is an error")
    func validates() throws {
        try installed.install("acme")
        var discovery = installed.discovery()
        discovery.inProcess = ["acne"]
        #expect(throws: InletError.self) { try discovery.validate() }
        discovery.inProcess = []
        discovery.withoutLayers = ["acme": ["everything"]]
        let error = #expect(throws: InletError.self) { try discovery.validate() }
        #expect(error?.message.contains("landlock, limits, seccomp") == true)
    }

    @Test("A command's program comes from the system or the manifest's folder, and its files are absolute paths")
    func command() throws {
        try installed.makeFolder("bin")
        try installed.write("bin/python3", "#!")
        try installed.install("acme", code: "\"command\": [\"python3\", \"-u\", \"acme.so\", \"other\"]")
        try installed.makeFolder("a/tools")
        try installed.write("a/tools/run", "#!")
        try installed.install("bars", code: "\"command\": [\"tools/run\", \"../bars.so\"]")
        try installed.install("gone", code: "\"command\": [\"python2\"]")
        var discovery = installed.discovery()
        discovery.programFolders = [installed.path("bin")]
        let inventory = discovery.inventory()
        #expect(
            inventory.plugins.map(\.program.code) == [
                .command([installed.path("bin/python3"), "-u", installed.path("a/acme.so"), "other"]),
                .command([installed.path("a/tools/run"), "../bars.so"]),
            ])
        #expect(inventory.plugins.first?.codeFiles == [installed.path("bin/python3"), installed.path("a/acme.so")])
        #expect(inventory.broken.map(\.name) == ["gone"])
        // Its contents are checked only when it is used.
        #expect(installed.probed.isEmpty)
        discovery.inProcess = ["acme"]
        #expect(discovery.inventory().broken.map(\.name) == ["acme", "gone"])
    }
}
