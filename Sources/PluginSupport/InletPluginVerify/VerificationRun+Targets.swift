import FoundationEssentials
import InletCore
import InletPluginLoader

extension VerificationRun {
    /// Returns the URIs that may be opened for each endpoint, the most promising first.
    func candidates(_ plugin: DiscoveredPlugin) throws -> [[VerificationTarget]] {
        // The user's URIs and those of the plug-in's author.
        let (users, authors) = (makeRegistry(plugin, verifier.localAccess), makeRegistry(plugin, .denied))
        let given = try verifier.uris.map { (try PluginURI($0).scheme, $0) }
        let known = Set(plugin.manifest.sourceSchemes + plugin.manifest.sinkSchemes)
        for (scheme, uri) in given where !known.contains(scheme) {
            throw InletError(
                .invalidConfiguration,
                "The plug-in \(plugin.manifest.name) has no scheme '\(scheme):' for \(Redaction.redact(uri: uri)). It "
                    + "has \(known.sorted().joined(separator: ", ")).")
        }
        let all = plugin.manifest.sources.map { ($0, false) } + plugin.manifest.sinks.map { ($0, true) }
        return try all.map { (endpoint, isSink) -> [VerificationTarget] in
            let own = given.filter { endpoint.schemes.contains($0.0) }.map(\.1)
            let registry = own.isEmpty ? authors : users
            let examples = endpoint.examples.map { Self.withoutFiles($0, endpoint) }
            let uris = own.isEmpty ? ["\(endpoint.schemes.first ?? ""):"] + examples : own
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

    private func makeRegistry(_ plugin: DiscoveredPlugin, _ access: LocalAccess) -> PluginRegistry {
        var registry = PluginRegistry(localAccess: access)
        for source in plugin.sourcePlugins { registry.register(source) }
        for sink in plugin.sinkPlugins { registry.register(sink) }
        return registry
    }

    /// Returns an example of a manifest without the options that name files: only the user's URIs grant a plug-in
    /// files, or have files created for it. An example that cannot be parsed is unchanged, and is refused for its
    /// files.
    static func withoutFiles(_ example: String, _ endpoint: PluginEndpoint) -> String {
        let paths = Set(endpoint.options.filter { $0.type == .path }.map(\.name))
        guard let uri = try? PluginURI(example) else { return example }
        let kept = uri.options.filter { !paths.contains($0.name) }
        let written = "?" + uri.options.map(\.text).joined(separator: "&")
        guard kept.count < uri.options.count, example.hasByteSuffix(written) else { return example }
        let address = String(Substring(example.utf8.dropLast(written.utf8.count)))
        return kept.isEmpty ? address : address + "?" + kept.map(\.text).joined(separator: "&")
    }

    /// Makes a folder for files that a sink writes.
    static func makeFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "inlet-verify-\(UInt64.random(in: 0...UInt64.max))").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return path
    }
}
