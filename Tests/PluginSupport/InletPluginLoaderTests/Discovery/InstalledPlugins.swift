import Foundation
import InletCore
import ReferenceTools
import Synchronization

@testable import InletPluginLoader

/// Folders of plug-ins for a test, and a discovery for them with a probe that counts instead of starting a child.
final class InstalledPlugins: Sendable {
    private let temporary: TemporaryFolder
    private let probes = Mutex<[String]>([])
    /// The names of the probed plug-ins, in order.
    var probed: [String] { probes.withLock { $0 } }

    init() throws {
        temporary = try TemporaryFolder()
        try makeFolder("a")
        try makeFolder("b")
        try mode(0o700, "")
    }

    /// Returns the absolute path of a file in the temporary folder, with links followed.
    func path(_ name: String) -> String {
        let whole = SystemFile.resolved(temporary.path(""))?.trimmed { $0 == UInt8(ascii: "/") } ?? ""
        return name.isEmpty ? "/\(whole)" : "/\(whole)/\(name)"
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        try mode(0o755, name)
    }

    func write(_ name: String, _ content: String) throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: path(name)))
        try mode(0o644, name)
    }

    func mode(_ mode: Int, _ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }

    /// Installs a plug-in in a folder, with a source or with the contents of `offers`.
    func install(
        _ name: String, in folder: String = "a", scheme: String? = nil, offers: [String] = ["sources"],
        options: String = "", code: String = "", extra: String = ""
    ) throws {
        let endpoint =
            "{\"schemes\": [\"\(scheme ?? name)\"], \"usage\": \"\(scheme ?? name):\", \"options\": [\(options)]}"
        let endpoints = offers.map { ", \"\($0)\": [\(endpoint)]" }.joined()
        let code = code.isEmpty ? "\"library\": \"\(name).so\"" : code
        try write(
            "\(folder)/\(name).inlet.json",
            """
            {"inlet-plugin": 1, "name": "\(name)", "version": "1.2", "license": "MIT", "summary": "A plug-in.",
             \(code)\(endpoints)\(extra)}
            """)
        try write("\(folder)/\(name).so", "code of \(name)")
    }

    /// Returns a discovery in the folders `a` and `b`, whose plug-ins all have the interfaces of sources and sinks.
    func discovery(
        interfaces: Set<String> = ["inlet.source/1", "inlet.sink/1"], failure: InletError? = nil
    ) -> PluginDiscovery {
        var discovery = PluginDiscovery(folders: [path("a"), path("b")])
        discovery.cachePath = path("cache/inlet/plugins.json")
        discovery.probe = { [weak self] program, _ throws(InletError) in
            self?.probes.withLock { $0.append(program.name) }
            if let failure { throw failure }
            return interfaces
        }
        return discovery
    }

    /// Returns a registry without built-in plug-ins that finds the installed ones.
    func registry(_ discovery: PluginDiscovery? = nil) -> PluginRegistry {
        var registry = PluginRegistry()
        registry.registerDiscovered(discovery ?? self.discovery())
        return registry
    }
}
