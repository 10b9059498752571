import InletCore

extension DiscoveredPlugin {
    /// Returns its sources, for a registry.
    ///
    /// - Parameter discovery: finds new versions of the plug-in; nil to find none.
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
            find: { () throws(InletError) in try successor(uri, given, endpoint, discovery) })
    }

    /// The paths of the manifest and the code, as the plug-in's author has written them: a link may lead elsewhere
    /// after an update.
    private var watchedPaths: [String] {
        guard case .library(let library) = manifest.code, let slash = place.lastIndex(ofByte: "/") else {
            return [place] + codeFiles
        }
        return [place, place[...slash] + library]
    }

    /// Examines the files again, and returns the same source of their version.
    private func successor(
        _ uri: PluginURI, _ given: [String: String], _ former: PluginEndpoint, _ discovery: PluginDiscovery
    ) throws(InletError) -> PluginSourceConfiguration {
        let new = try discovery.examined(manifest.name, place)
        try checkReach(of: new)
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
                        + "given. Start the source again with options that it has.")
            }
            if let earlier = former.options.first(where: { $0.name == name }), option.reachesFurther(than: earlier) {
                throw new.refusal("uses the option \(name) for a file or shows its value, unlike the running version.")
            }
        }
        return try new.source(uri, given, endpoint, updatedBy: discovery)
    }

    /// Checks that a new version has no more power than this one, whatever its options are.
    private func checkReach(of new: DiscoveredPlugin) throws(InletError) {
        guard new.manifest.permissions.isWithin(manifest.permissions) else {
            throw new.refusal("requires more permissions than the running version.")
        }
        guard new.program.memoryLimit <= program.memoryLimit else {
            throw new.refusal("requires more memory than the running version.")
        }
        // A command can start programs, and has no watchdog.
        if case .library = program.code, case .command = new.program.code {
            throw new.refusal("is a command, and the running version is a library.")
        }
    }

    /// Makes the error for a version of a plug-in whose permissions only a person can grant.
    private func refusal(_ reason: String) -> InletError {
        InletError(
            .permissionDenied,
            "Version \(manifest.version) of \(manifest.name) \(reason) Look at it with inlet plugins \(manifest.name), "
                + "and restart Inlet to allow it.")
    }
}

extension PluginManifestOption {
    /// Whether a value of this option grants the plug-in a file that one of the other option does not, or shows a value
    /// that the other hides.
    fileprivate func reachesFurther(than other: PluginManifestOption) -> Bool {
        (type == .path && other.type != .path) || (createsFile && !other.createsFile)
            || (type != .secret && other.type == .secret)
    }
}

extension PluginPermissions {
    /// Whether the other permissions include all of these.
    fileprivate func isWithin(_ others: PluginPermissions) -> Bool {
        (!network || others.network) && (!devices || others.devices) && Set(files).isSubset(of: others.files)
    }
}
