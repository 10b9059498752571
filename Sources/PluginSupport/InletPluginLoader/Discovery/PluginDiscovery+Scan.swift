import InletCore

extension PluginDiscovery {
    /// Returns the contents of the folders, without running any code.
    func scan() -> PluginScan {
        var scan = PluginScan()
        var used: [String: String] = [:]
        var seen: Set<[UInt64]> = []
        for path in folders {
            let (folder, files) = search(path, &seen)
            scan.folders.append(folder)
            for (name, file) in files {
                if let first = used[name] {
                    scan.shadowed.append(ShadowedPlugin(name: name, file: file, usedFile: first))
                } else {
                    used[name] = file
                    scan.candidates.append(candidate(name, file))
                }
            }
        }
        return scan
    }

    /// Returns the manifests in a folder; none if the folder was already searched under another path.
    func search(
        _ path: String, _ seen: inout Set<[UInt64]>
    ) -> (folder: PluginFolder, files: [(name: String, file: String)]) {
        guard path.hasBytePrefix("/") else {
            let reason =
                "\(path) is relative, so that what is found depends on the working directory. "
                + "Write an absolute path into \(PluginFolder.variable)."
            return (PluginFolder(path: path, state: .refused(reason)), [])
        }
        guard let real = SystemFile.resolved(path) else { return (PluginFolder(path: path, state: .absent), []) }
        do throws(InletError) {
            let facts = try trust.checkFolder(real)
            let suffix = PluginManifest.fileSuffix
            var names: [String] = []
            if seen.insert([facts.device, facts.inode]).inserted {
                names = try SystemFile.names(in: real, suffix: suffix, most: Self.mostManifests)
            }
            let files = names.map { name in
                (String(Substring(name.utf8.dropLast(suffix.utf8.count))), "\(real)/\(name)")
            }
            return (PluginFolder(path: path, state: .searched), files)
        } catch {
            return (PluginFolder(path: path, state: .refused(error.message)), [])
        }
    }

    /// Returns the result of checking a manifest and its files, without running any code.
    func candidate(_ name: String, _ file: String) -> PluginCandidate {
        var manifest: PluginManifest?
        do throws(InletError) {
            let folder = String(file[..<(file.lastIndex(ofByte: "/") ?? file.startIndex)])
            let identity = try trust.checkFile(file, within: folder)
            let (bytes, facts) = try SystemFile.read(identity.path, most: PluginManifest.longest)
            guard FileIdentity(path: identity.path, facts) == identity else {
                throw InletError(.busy, "\(file) has changed while it was read, as in an update. Try again.")
            }
            let read = try PluginManifest(bytes, file: file)
            manifest = read
            let (code, files) = try code(of: read, folder: folder)
            var program = PluginProgram(name: read.name, code: code, permissions: read.permissions)
            if case .command = code { program.folders = [folder] }
            if let memory = read.memoryLimit { program.memoryLimit = memory }
            program.withoutLayers = withoutLayers[read.name] ?? []
            program.hostPath = hostPath
            let plugin = DiscoveredPlugin(
                manifest: read, file: identity.path, place: file, program: program,
                isInProcess: inProcess.contains(read.name),
                identities: [identity] + files)
            return PluginCandidate(name: name, file: file, manifest: read, plugin: .success(plugin))
        } catch {
            return PluginCandidate(name: name, file: file, manifest: manifest, plugin: .failure(error))
        }
    }

    /// Returns the code to run, by absolute paths, and the identities of the files.
    private func code(
        of manifest: PluginManifest, folder: String
    ) throws(InletError) -> (PluginProgram.Code, [FileIdentity]) {
        switch manifest.code {
        case .library(let path):
            let library = try trust.checkFile("\(folder)/\(path)", within: folder)
            return (.library(library.path), [library])
        case .command(let words):
            guard !inProcess.contains(manifest.name) else {
                throw InletError(
                    .invalidConfiguration,
                    "\(manifest.name) is a command, and only a library can be loaded into this process. "
                        + "Leave out --in-process.")
            }
            var files: [FileIdentity] = []
            var command = [try program(words.first ?? "", folder: folder, &files)]
            for word in words.dropFirst() {
                // An argument that names a file in the manifest's folder is replaced by that file's path.
                let beside = "\(folder)/\(word)"
                guard ManifestReader.isRelativePath(word), SystemFile.facts(beside) != nil else {
                    command.append(word)
                    continue
                }
                let file = try trust.checkFile(beside, within: folder)
                files.append(file)
                command.append(file.path)
            }
            return (.command(command), files)
        }
    }

    /// Returns the path of the program of a command: unchanged if absolute, relative to the manifest's folder if it
    /// contains a slash, and otherwise in the system's folders.
    ///
    /// A path through a link stays unchanged, because a program may check the name by which it is called.
    private func program(
        _ word: String, folder: String, _ files: inout [FileIdentity]
    ) throws(InletError) -> String {
        let paths: [String]
        if word.hasBytePrefix("/") {
            paths = [word]
        } else if word.contains(byte: "/") {
            paths = ["\(folder)/\(word)"]
        } else {
            paths = programFolders.map { "\($0)/\(word)" }
        }
        guard let path = paths.first(where: { SystemFile.resolved($0) != nil }) else {
            throw InletError(
                .notFound,
                "There is no program \(paths.joined(separator: ", nor ")). Install it, or correct \"command\".")
        }
        let isBeside = !word.hasBytePrefix("/") && word.contains(byte: "/")
        files.append(try trust.checkFile(path, within: isBeside ? folder : nil))
        // A user who may write to the folder of a link can replace the link.
        let parent = String(path[..<(path.lastIndex(ofByte: "/") ?? path.startIndex)])
        _ = try trust.checkFolder(SystemFile.resolved(parent.isEmpty ? "/" : parent) ?? parent)
        return path
    }
}
