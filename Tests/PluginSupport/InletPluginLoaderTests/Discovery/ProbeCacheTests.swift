import Foundation
import InletCore
import Synchronization
import Testing

@testable import InletPluginLoader

@Suite struct ProbeCacheTests {
    private let installed: InstalledPlugins

    init() throws {
        installed = try InstalledPlugins()
        try installed.makeFolder("cache")
        try installed.install("acme")
    }

    private func probes(_ discovery: PluginDiscovery? = nil) -> Int {
        let before = installed.probed.count
        let inventory = (discovery ?? installed.discovery()).inventory()
        #expect(inventory.plugins.count == 1, "\(inventory.broken)")
        return installed.probed.count - before
    }

    private var cache: String { installed.path("cache/inlet/plugins.json") }

    @Test("A plug-in is probed once, and again when its library or manifest has changed")
    func once() throws {
        #expect(probes() == 1)
        #expect(probes() == 0)
        try installed.write("a/acme.so", "newer code of acme")
        #expect(probes() == 1)
        #expect(probes() == 0)
        let manifest = installed.path("a/acme.inlet.json")
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try installed.write("a/acme.inlet.json", text + "\n")
        #expect(probes() == 1)
        #expect(probes() == 0)
    }

    @Test("A library that replaces one of the same length is probed, even with the same time")
    func replaced() throws {
        let library = installed.path("a/acme.so")
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: library)
        #expect(probes() == 1)
        try installed.write("a/new", "CODE of acme")
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: installed.path("a/new"))
        #expect(unsafe rename(installed.path("a/new"), library) == 0)
        #expect(probes() == 1)
    }

    @Test("Another version of Inlet probes again")
    func version() {
        #expect(probes() == 1)
        var other = installed.discovery()
        other.version = "99.0.0"
        #expect(probes(other) == 1)
        #expect(probes(other) == 0)
    }

    @Test(
        "A broken or foreign cache is ignored, and replaced",
        arguments: [
            "", "{", "null", "[]", "{\"format\":1,\"version\":\"0\",\"entries\":[{\"files\":[],\"interfaces\":[]}]}",
            String(repeating: "[", count: 2000), "{\"format\":1e999,\"version\":1,\"entries\":-1}",
        ])
    func broken(_ content: String) throws {
        try installed.makeFolder("cache/inlet")
        try installed.write("cache/inlet/plugins.json", content)
        #expect(probes() == 1)
        #expect(probes() == 0)
    }

    @Test("A cache over its maximum length is not read")
    func length() throws {
        #expect(probes() == 1)
        #expect(probes() == 0)
        let content = try String(contentsOfFile: cache, encoding: .utf8)
        try installed.write("cache/inlet/plugins.json", content + String(repeating: " ", count: 1 << 20))
        #expect(probes() == 1)
    }

    @Test("A cache that others may write is not trusted", arguments: ["cache/inlet/plugins.json", "cache/inlet"])
    func untrusted(_ name: String) throws {
        #expect(probes() == 1)
        #expect(probes() == 0)
        try installed.mode(0o777, name)
        #expect(probes() == 1)
    }

    @Test("The cache is readable by its owner only")
    func mode() throws {
        #expect(probes() == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: cache)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: installed.path("cache/inlet")) == ["plugins.json"])
    }

    @Test("Without a place for the cache everything works, with a probe each time")
    func unwritable() throws {
        try installed.write("file", "")
        for path in [nil, installed.path("file/inlet/plugins.json"), "/proc/inlet/plugins.json"] {
            var discovery = installed.discovery()
            discovery.cachePath = path
            #expect(probes(discovery) == 1)
            #expect(probes(discovery) == 1)
        }
    }

    @Test("A library that changes during its probe is not used, and no result is kept")
    func race() throws {
        var discovery = installed.discovery()
        let changes = Mutex(true)
        let installed = installed
        discovery.probe = { _, _ throws(InletError) in
            guard changes.withLock({ $0 }) else { return ["inlet.source/1"] }
            do { try installed.write("a/acme.so", "code that came later") } catch {
                throw InletError(.internal, "\(error)")
            }
            return ["inlet.source/1"]
        }
        let inventory = discovery.inventory()
        #expect(inventory.plugins.isEmpty)
        #expect(inventory.broken.first?.reason.code == .busy)
        #expect(!FileManager.default.fileExists(atPath: cache))
        changes.withLock { $0 = false }
        #expect(discovery.inventory().plugins.count == 1)
    }

    @Test("The cache is at the environment's path, and nowhere without one")
    func paths() {
        #expect(ProbeCache.path(cache: "/c", home: "/h") == "/c/inlet/plugins.json")
        #expect(ProbeCache.path(cache: "c", home: "/h") == "/h/.cache/inlet/plugins.json")
        #expect(ProbeCache.path(cache: nil, home: nil) == nil)
    }
}
