package import InletCore

/// All facts about a plug-in that are known without running its code, with all its errors.
package struct PluginExamination: Sendable {
    /// The path of its manifest.
    package let file: String
    /// The errors in the manifest, a phrase each; empty for a valid one.
    package let manifestProblems: [String]
    /// The manifest, if it can be used.
    package let manifest: PluginManifest?
    /// The plug-in, or the reason why its files cannot be used.
    package let plugin: Result<DiscoveredPlugin, InletError>
}

extension PluginDiscovery {
    /// Examines the plug-in that a word names.
    ///
    /// - Parameter word: the path of a manifest or of a library in the same folder as its manifest, or the name of an
    ///   installed plug-in.
    /// - Throws: ``InletError/Code/notFound`` if there is no such plug-in.
    package func examine(_ word: String) throws(InletError) -> PluginExamination {
        let file = try manifestFile(word)
        let name = String(file.split(atByte: "/").last ?? "").dropLast(PluginManifest.fileSuffix.utf8.count)
        var problems: [String] = []
        var manifest: PluginManifest?
        do throws(InletError) {
            let bytes = try SystemFile.read(file, most: PluginManifest.longest).bytes
            (manifest, problems) = PluginManifest.check(bytes, file: file)
            if !problems.isEmpty { manifest = nil }
        } catch {
            problems = [error.message]
        }
        let candidate = candidate(String(name), file)
        var plugin = candidate.plugin
        do throws(InletError) {
            let folder = String(file[..<(file.lastIndex(ofByte: "/") ?? file.startIndex)])
            _ = try trust.checkFolder(folder)
        } catch {
            plugin = .failure(error)
        }
        return PluginExamination(file: file, manifestProblems: problems, manifest: manifest, plugin: plugin)
    }

    /// Asks a plug-in for the ids of its interfaces, as ``PluginProgram/probe(within:)`` does.
    ///
    /// - Parameter limit: how long the probe may take.
    package func interfaces(
        of plugin: DiscoveredPlugin, within limit: Duration
    ) throws(InletError) -> Set<String> {
        try probe(plugin.program, limit)
    }

    private func manifestFile(_ word: String) throws(InletError) -> String {
        let suffix = PluginManifest.fileSuffix
        if word.hasByteSuffix(suffix) {
            guard let real = SystemFile.resolved(word) else { throw Self.absent("There is no file \(word).") }
            return real
        }
        guard word.contains(byte: "/") || word.contains(byte: ".") else {
            let candidates = scan().candidates
            if let found = candidates.first(where: { $0.name == word }) { return found.file }
            let hint = Spelling.nearest(to: word, among: candidates.map(\.name)).map { " Did you mean '\($0)'?" } ?? ""
            throw Self.absent(
                "There is no plug-in '\(word)' in the folders that `inlet plugins path` lists.\(hint) State the path of "
                    + "its manifest or library.")
        }
        guard let library = SystemFile.resolved(word), let slash = library.lastIndex(ofByte: "/") else {
            throw Self.absent("There is no file \(word).")
        }
        // The manifest in the library's folder that names the library.
        let folder = String(library[..<slash])
        var unreadable: [String] = []
        for name in try SystemFile.names(in: folder, suffix: suffix, most: Self.mostManifests) {
            let file = "\(folder)/\(name)"
            guard let bytes = try? SystemFile.read(file, most: PluginManifest.longest).bytes,
                let manifest = PluginManifest.check(bytes, file: file).manifest
            else {
                unreadable.append(file)
                continue
            }
            let parts: [String] =
                switch manifest.code {
                case .library(let path): [path]
                case .command(let words): words
                }
            if parts.contains(where: { SystemFile.resolved("\(folder)/\($0)") == library }) { return file }
        }
        // An unreadable manifest is probably the one that the user means, and its error the answer.
        if let only = unreadable.first, unreadable.count == 1 { return only }
        throw Self.absent(
            "No manifest in \(folder) names \(word). Write one there: a NAME\(suffix) whose \"library\" is the name of "
                + "that file.")
    }

    private static func absent(_ message: String) -> InletError { InletError(.notFound, message) }
}
