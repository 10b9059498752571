import FoundationEssentials
import InletCore
import InletPlugins

extension VerificationRun {
    /// Returns, for each endpoint, what may be opened, the most promising first.
    func candidates(_ plugin: DiscoveredPlugin) throws -> [[VerificationTarget]] {
        var registry = PluginRegistry(localAccess: verifier.localAccess)
        for source in plugin.sourcePlugins { registry.register(source) }
        for sink in plugin.sinkPlugins { registry.register(sink) }
        let given = try verifier.uris.map { (try PluginURI($0).scheme, $0) }
        let known = Set(plugin.manifest.sourceSchemes + plugin.manifest.sinkSchemes)
        for (scheme, uri) in given where !known.contains(scheme) {
            throw InletError(
                .invalidConfiguration,
                "The plug-in \(plugin.manifest.name) has no scheme '\(scheme):', as \(Redaction.redact(uri: uri)) has. It "
                    + "has \(known.sorted().joined(separator: ", ")).")
        }
        let all = plugin.manifest.sources.map { ($0, false) } + plugin.manifest.sinks.map { ($0, true) }
        return try all.map { (endpoint, isSink) -> [VerificationTarget] in
            let own = given.filter { endpoint.schemes.contains($0.0) }.map(\.1)
            let uris = own.isEmpty ? ["\(endpoint.schemes.first ?? ""):"] + endpoint.examples : own
            return try uris.compactMap { uri -> VerificationTarget? in
                do {
                    if isSink {
                        let made = try registry.sink(uri)
                        let sink = (made as? PluginPacketSinkConfiguration)?.sink ?? (made as? PluginSinkConfiguration)
                        return sink.map { VerificationTarget(endpoint: endpoint, configuration: .sink($0)) }
                    }
                    return (try registry.source(uri) as? PluginSourceConfiguration).map {
                        VerificationTarget(endpoint: endpoint, configuration: .source($0))
                    }
                } catch  where own.isEmpty {
                    return nil
                }
            }
        }
    }

    /// Makes a folder for files that a sink writes.
    static func makeFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "inlet-verify-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return path
    }
}
