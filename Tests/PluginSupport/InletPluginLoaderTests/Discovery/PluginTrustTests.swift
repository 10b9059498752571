import Foundation
import InletCore
import Testing

@testable import InletPluginLoader

@Suite struct PluginTrustTests {
    private let installed: InstalledPlugins

    init() throws {
        installed = try InstalledPlugins()
        try installed.makeFolder("a/lib")
        try installed.install("acme", code: "\"library\": \"lib/acme.so\"")
        try installed.write("a/lib/acme.so", "code")
    }

    private var reason: String? {
        let inventory = installed.discovery().inventory()
        if let broken = inventory.broken.first { return broken.reason.message }
        for case .refused(let reason) in inventory.folders.map(\.state) { return reason }
        return inventory.plugins.isEmpty ? "nothing was found" : nil
    }

    @Test("Files and folders that only the user can change are trusted")
    func trusted() { #expect(reason == nil) }

    @Test(
        "A file that others may write is refused, with its name and the remedy",
        arguments: ["a", "a/lib", "a/lib/acme.so", "a/acme.inlet.json"], [0o002, 0o020])
    func writable(_ name: String, _ bits: Int) throws {
        try installed.mode(0o755 | bits, name)
        let reason = try #require(reason)
        #expect(reason.contains("\(installed.path(name)) may be written to by others"), "\(reason)")
        #expect(reason.contains("chmod go-w"))
        #expect(installed.probed.isEmpty)
    }

    @Test("A parent folder that others may write is refused; with the sticky bit it does no harm")
    func above() throws {
        try installed.mode(0o777, "")
        #expect(reason?.contains("may be written to by others") == true)
        try installed.mode(0o1777, "")
        #expect(reason == nil)
        try installed.mode(0o1777, "a")
        #expect(reason?.contains("may be written to by others") == true)
    }

    @Test("A file of another owner is refused")
    func owners() throws {
        var discovery = installed.discovery()
        discovery.trust.owners = [4242]
        guard case .refused(let reason) = discovery.inventory().folders[0].state else {
            Issue.record("the folder was searched")
            return
        }
        #expect(reason.contains("belongs to the user with id"))
    }

    @Test("A link within the folder is followed; one that leaves it is refused", arguments: [true, false])
    func links(_ isLibrary: Bool) throws {
        let name = isLibrary ? "a/lib/acme.so" : "a/acme.inlet.json"
        let inside = isLibrary ? "a/lib/acme.so.1" : "a/acme.json"
        try FileManager.default.moveItem(atPath: installed.path(name), toPath: installed.path(inside))
        try installed.link(name, to: installed.path(inside))
        #expect(reason == nil)
        try FileManager.default.removeItem(atPath: installed.path(name))
        try FileManager.default.moveItem(atPath: installed.path(inside), toPath: installed.path("b/outside"))
        try installed.link(name, to: "\(isLibrary ? "../" : "")../b/outside")
        #expect(reason?.contains("symbolic link to \(installed.path("b/outside"))") == true, "\(reason ?? "")")
        try FileManager.default.removeItem(atPath: installed.path("b/outside"))
        #expect(reason?.contains("leads nowhere") == true)
    }

    @Test("A manifest that is a folder or a pipe is refused without waiting")
    func kinds() throws {
        let manifest = installed.path("a/acme.inlet.json")
        try FileManager.default.removeItem(atPath: manifest)
        #expect(unsafe mkfifo(manifest, 0o600) == 0)
        #expect(reason?.contains("not a regular file") == true)
        try FileManager.default.removeItem(atPath: manifest)
        try installed.makeFolder("a/acme.inlet.json")
        #expect(reason?.contains("not a regular file") == true)
    }

    @Test("A manifest over its maximum length is refused, not read")
    func length() throws {
        try installed.write("a/acme.inlet.json", String(repeating: " ", count: 1 << 22))
        #expect(reason?.contains("at most 65536") == true, "\(reason ?? "")")
    }

    @Test("A missing library is reported by its path")
    func missing() throws {
        try FileManager.default.removeItem(atPath: installed.path("a/lib/acme.so"))
        #expect(reason?.contains(installed.path("a/lib/acme.so")) == true)
    }
}
