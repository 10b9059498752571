/// The contents of the folders, found without running any code.
struct PluginScan: Sendable {
    var folders: [PluginFolder] = []
    /// The candidates, one for each name, in the order in which they were found.
    var candidates: [PluginCandidate] = []
    var shadowed: [ShadowedPlugin] = []

    /// Returns the schemes that no plug-in gets.
    ///
    /// - Parameter reserved: the schemes that are taken before the search begins.
    func conflicts(reserved: Set<String>) -> [SchemeConflict] {
        [false, true].flatMap { isSink -> [SchemeConflict] in
            var offers: [String: [String]] = [:]
            for candidate in candidates {
                guard let manifest = candidate.manifest else { continue }
                for scheme in isSink ? manifest.sinkSchemes : manifest.sourceSchemes {
                    offers[scheme, default: []].append(candidate.name)
                }
            }
            return offers.keys.sorted().compactMap { scheme in
                let names = offers[scheme] ?? []
                guard names.count > 1 || reserved.contains(scheme) else { return nil }
                return SchemeConflict(
                    scheme: scheme, isSink: isSink, plugins: names, isReserved: reserved.contains(scheme))
            }
        }
    }
}
