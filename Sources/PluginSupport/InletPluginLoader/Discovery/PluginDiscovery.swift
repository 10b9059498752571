import Dispatch
public import InletCore
import Synchronization

/// Finds the installed plug-ins of the machine, by their manifests.
///
/// A folder or file that users other than root and this user can change is refused. A plug-in counts as usable once a
/// child process has loaded it and reported its interfaces; one that fails there is never loaded into this process.
public struct PluginDiscovery: Sendable {
    /// The folders to search, in this order; of two manifests of one name, the first is used. The default is
    /// ``PluginFolder/standardPaths``.
    public var folders: [String]
    /// The plug-ins to load into this process, by name. Empty by default: every plug-in runs in a separate process.
    public var inProcess: Set<String> = []
    /// The layers of the sandbox to omit, by the name of the plug-in. Empty by default.
    public var withoutLayers: [String: Set<String>] = [:]
    /// The path of `inlet-plugin-host`. The default, nil, is the one in the folder of the running program.
    public var hostPath: String?
    /// How long a plug-in may take to report its interfaces. The default is 2 s.
    public var probeTimeout = Duration.seconds(2)
    /// The file that stores the results of probes; nil stores none. The default is `inlet/plugins.json` in
    /// `$XDG_CACHE_HOME` or `~/.cache`.
    public var cachePath: String?

    /// Whether a running source switches to a new version of its plug-in when the files are replaced. The default is
    /// true; otherwise the new version runs from the next opening of the source on. A source in this process and a sink
    /// keep their version until they end.
    public var takesUpdates = true

    /// The layers of the sandbox that a user can omit.
    public static let layers: Set<String> = ["landlock", "seccomp", "limits"]
    /// The most manifests that are read in a folder.
    static let mostManifests = 256

    var trust = FileTrust()
    var version = InletVersion.current
    /// How long new files of a running plug-in must stay unchanged before they are examined.
    var settling = Duration.seconds(1)
    /// The folders in which programs that a manifest names without a path are searched for.
    var programFolders = ["/usr/local/bin", "/usr/bin", "/bin"]
    /// Asks a plug-in for its interfaces.
    var probe: @Sendable (PluginProgram, Duration) throws(InletError) -> Set<String> = {
        program, timeout throws(InletError) in try program.probe(within: timeout)
    }

    /// Creates a discovery. Nothing is searched yet.
    public init(folders: [String] = PluginFolder.standardPaths) {
        self.folders = folders
        cachePath = ProbeCache.standardPath
    }

    /// Returns all installed plug-ins, after probing those that have not been probed, several at a time.
    ///
    /// Blocks meanwhile: at most ``probeTimeout`` for each plug-in.
    ///
    /// - Parameter reserved: the schemes of the registry that the plug-ins will join.
    public func inventory(reserved: Set<String> = []) -> PluginInventory {
        let scan = scan()
        let results = Mutex([Result<DiscoveredPlugin, InletError>?](repeating: nil, count: scan.candidates.count))
        let cache = Mutex(ProbeCache(path: cachePath, version: version, trust: trust))
        DispatchQueue.concurrentPerform(iterations: scan.candidates.count) { index in
            let result = probed(scan.candidates[index], cache)
            results.withLock { $0[index] = result }
        }
        cache.withLock { $0.save() }
        var plugins: [DiscoveredPlugin] = []
        var broken: [BrokenPlugin] = []
        for (candidate, result) in zip(scan.candidates, results.withLock { $0 }) {
            switch result {
            case .success(let plugin): plugins.append(plugin)
            case .failure(let error):
                broken.append(BrokenPlugin(name: candidate.name, file: candidate.file, reason: error))
            case nil: break
            }
        }
        return PluginInventory(
            folders: scan.folders, plugins: plugins, broken: broken, shadowed: scan.shadowed,
            conflicts: scan.conflicts(reserved: reserved))
    }

    /// Returns the folders, existing or not, and whether each is searched. Reads no manifest.
    public func searchedFolders() -> [PluginFolder] {
        var seen: Set<[UInt64]> = []
        return folders.map { search($0, &seen).folder }
    }

    /// Returns the one plug-in that offers a scheme, probed; nil if no plug-in does.
    func plugin(scheme: String, isSink: Bool) throws(InletError) -> DiscoveredPlugin? {
        let scan = scan()
        let offering = scan.candidates.filter { $0.offers(scheme, isSink: isSink) }
        if let conflict = scan.conflicts(reserved: []).first(where: { $0.scheme == scheme && $0.isSink == isSink }) {
            let files = offering.map { "\($0.name) is \($0.file)" }.joined(separator: ", ")
            throw InletError(.invalidConfiguration, "\(conflict.explanation) \(files).")
        }
        // An unreadable manifest offers nothing, but is probably the one that the user means.
        let meant = offering.first ?? scan.candidates.first { $0.manifest == nil && $0.name == scheme }
        guard let meant else { return nil }
        let cache = Mutex(ProbeCache(path: cachePath, version: version, trust: trust))
        let result = probed(meant, cache)
        cache.withLock { $0.save() }
        do throws(InletError) {
            return try result.get()
        } catch {
            throw BrokenPlugin(name: meant.name, file: meant.file, reason: error).error
        }
    }

    /// Returns a plug-in that was found before, with its current files, probed.
    func examined(_ name: String, _ file: String) throws(InletError) -> DiscoveredPlugin {
        let cache = Mutex(ProbeCache(path: cachePath, version: version, trust: trust))
        let result = probed(candidate(name, file), cache)
        cache.withLock { $0.save() }
        return try result.get()
    }

    /// Checks that ``inProcess`` and ``withoutLayers`` name installed plug-ins and existing layers.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with the wrong name.
    public func validate() throws(InletError) {
        let wanted = inProcess.union(withoutLayers.keys)
        for layer in withoutLayers.values.flatMap({ $0 }) where !Self.layers.contains(layer) {
            throw InletError(
                .invalidConfiguration,
                "The sandbox has no layer '\(layer)'. It has \(Self.layers.sorted().joined(separator: ", ")).")
        }
        guard !wanted.isEmpty else { return }
        let known = scan().candidates.map(\.name)
        for name in wanted.sorted() where !known.contains(name) {
            let hint = Spelling.nearest(to: name, among: known).map { " Did you mean '\($0)'?" } ?? ""
            throw InletError(
                .invalidConfiguration,
                "There is no plug-in '\(name)' in the folders that `inlet plugins path` lists.\(hint)")
        }
    }

    /// Returns a plug-in after a child process has confirmed that it has the interfaces that its manifest declares. A
    /// command is not asked.
    private func probed(
        _ candidate: PluginCandidate, _ cache: borrowing Mutex<ProbeCache>
    ) -> Result<DiscoveredPlugin, InletError> {
        do throws(InletError) {
            let plugin = try candidate.plugin.get()
            // A command has no table of interfaces: its answer to the first message shows whether it works.
            if case .command = plugin.program.code { return .success(plugin) }
            let known = cache.withLock { $0.interfaces(of: plugin.identities) }
            let interfaces: Set<String>
            if let known { interfaces = known } else { interfaces = try probe(plugin.program, probeTimeout) }
            for needed in plugin.neededInterfaces where !interfaces.contains(needed) {
                let kind = needed.hasBytePrefix("inlet.sink") ? "sink" : "source"
                throw InletError(
                    .pluginRejected,
                    "The manifest declares a \(kind), but the plug-in has no interface \(needed). "
                        + "Return one from get_interface, or remove the \(kind) from the manifest.")
            }
            if known == nil {
                try checkUnchanged(plugin)
                cache.withLock { $0.add(interfaces, of: plugin.identities) }
            }
            return .success(plugin)
        } catch {
            return .failure(error)
        }
    }

    /// Checks that the probed files are those that were found, so that no result is stored for others.
    private func checkUnchanged(_ plugin: DiscoveredPlugin) throws(InletError) {
        for identity in plugin.identities {
            guard try trust.checkFile(identity.path, within: nil) != identity else { continue }
            throw InletError(
                .busy, "\(identity.path) has changed while the plug-in was examined, as in an update. Try again.")
        }
    }
}
