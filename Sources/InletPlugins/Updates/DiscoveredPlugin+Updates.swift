import InletCore

extension DiscoveredPlugin {
    /// Returns its sources, for a registry.
    ///
    /// - Parameter discovery: finds new versions of the plug-in; nil if none are looked for.
    func sourcePlugins(updatedBy discovery: PluginDiscovery?) -> [SourcePlugin] {
        manifest.sources.map { endpoint in
            SourcePlugin(endpoint.info(name: manifest.name, summary: manifest.summary)) { uri, values in
                let given = endpoint.options.given(in: values, schemes: endpoint.schemes)
                return try source(uri, given, endpoint, updatedBy: discovery)
            }
        }
    }

    private func source(
        _ uri: PluginURI, _ given: [String: String], _ endpoint: PluginEndpoint, updatedBy discovery: PluginDiscovery?
    ) throws(InletError) -> PluginSourceConfiguration {
        let (program, options) = try arguments(uri, given, endpoint)
        let declared = endpoint.info(name: manifest.name, summary: manifest.summary).options(of: uri.scheme)
        var source = PluginSourceConfiguration(
            program: program, isInProcess: isInProcess, scheme: uri.scheme, address: uri.rest, options: options,
            redactedURI: uri.redacted(declared: declared))
        if let discovery, !isInProcess { source.updates = updates(uri, given, endpoint, discovery) }
        return source
    }

    private func updates(
        _ uri: PluginURI, _ given: [String: String], _ endpoint: PluginEndpoint, _ discovery: PluginDiscovery
    ) -> PluginUpdates {
        let paths = watchedPaths
        return PluginUpdates(
            version: "\(manifest.name) \(manifest.version)", running: identities, isAutomatic: discovery.takesUpdates,
            closesFirst: endpoint.allowsOneSession ?? manifest.permissions.devices, settling: discovery.settling,
            files: {
                var files: [FileIdentity] = []
                for path in paths {
                    guard let real = SystemFile.resolved(path), let facts = SystemFile.facts(real) else { return nil }
                    files.append(FileIdentity(path: real, facts))
                }
                return files
            },
            find: { () throws(InletError) in try successor(uri, given, discovery) })
    }

    /// The paths of the manifest and the code, as the plug-in's author has written them: a link may lead elsewhere
    /// after an update.
    private var watchedPaths: [String] {
        guard case .library(let library) = manifest.code, let slash = place.lastIndex(ofByte: "/") else {
            return [place] + codeFiles
        }
        return [place, place[...slash] + library]
    }

    /// Examines the files anew, and returns the same source of the version that they are of.
    private func successor(
        _ uri: PluginURI, _ given: [String: String], _ discovery: PluginDiscovery
    ) throws(InletError) -> PluginSourceConfiguration {
        let new = try discovery.examined(manifest.name, place)
        guard new.manifest.permissions.isWithin(manifest.permissions) else {
            throw InletError(
                .permissionDenied,
                "Version \(new.manifest.version) of \(manifest.name) asks for more permissions than the one that "
                    + "runs. Look at them with inlet plugins \(manifest.name), and start Inlet anew to grant them.")
        }
        guard let endpoint = new.manifest.sources.first(where: { $0.schemes.contains(uri.scheme) }) else {
            throw InletError(
                .unsupported,
                "Version \(new.manifest.version) of \(manifest.name) has no source \(uri.scheme): any more."
            )
        }
        for (name, text) in given {
            guard let option = endpoint.options.first(where: { $0.name == name }), option.canonical(text) != nil else {
                throw InletError(
                    .invalidConfiguration,
                    "Version \(new.manifest.version) of \(manifest.name) does not take the option \(name) as it is "
                        + "given. Start the source anew with options that it has.")
            }
        }
        return try new.source(uri, given, endpoint, updatedBy: discovery)
    }
}

extension PluginPermissions {
    /// Whether others allow everything that these do.
    fileprivate func isWithin(_ others: PluginPermissions) -> Bool {
        (!network || others.network) && (!devices || others.devices) && Set(files).isSubset(of: others.files)
    }
}
