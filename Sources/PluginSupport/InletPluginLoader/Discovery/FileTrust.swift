import InletCore

/// Decides whether code at a path is as trustworthy as the user who runs Inlet: whether only root and that user can
/// change the file, replace it, or move a folder above it.
struct FileTrust: Sendable {
    /// The users that may own files and folders. The default is root and the user of this process.
    var owners: Set<UInt32> = [0, SystemFile.user]

    /// Returns the metadata of a folder that may be searched.
    ///
    /// - Parameter path: a path with all links followed.
    /// - Throws: ``InletError/Code/pluginRejected`` with the reason if others can change its contents.
    func checkFolder(_ path: String) throws(InletError) -> FileFacts {
        let facts = try checkAbove(path, within: path)
        guard facts.kind == .folder else { throw Self.error("\(path) is not a folder.") }
        return facts
    }

    /// Returns the path of a file with all links followed, after checking it and all folders above it.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - folder: the folder that it may not leave by a link, with all links followed; nil allows any place.
    /// - Throws: ``InletError/Code/pluginRejected`` with the reason, ``InletError/Code/notFound`` if the file does not
    ///   exist.
    func checkFile(_ path: String, within folder: String?) throws(InletError) -> FileIdentity {
        guard let real = SystemFile.resolved(path) else {
            throw InletError(.notFound, "There is no file \(path), or it is a link that leads nowhere.")
        }
        if let folder, !real.hasBytePrefix(folder.hasByteSuffix("/") ? folder : folder + "/") {
            throw Self.error(
                "\(path) is a symbolic link to \(real), outside of the folder. Put the file itself into the folder.")
        }
        let facts = try checkAbove(real, within: folder)
        guard facts.kind == .file else { throw Self.error("\(path) is not a regular file. Put the file itself there.") }
        return FileIdentity(path: real, facts)
    }

    /// Checks a path and every folder above it. A folder such as `/tmp`, in which all users may create files, but may
    /// not rename those of others, is harmless above the searched folder.
    ///
    /// - Returns: the metadata of the path itself.
    private func checkAbove(_ path: String, within folder: String?) throws(InletError) -> FileFacts {
        guard path.hasBytePrefix("/") else { throw Self.error("\(path) is not an absolute path.") }
        func isOutside(_ above: String) -> Bool {
            guard let folder else { return true }
            return above == "/" ? folder != "/" : folder.hasBytePrefix(above + "/")
        }
        var above = "/"
        var facts = try check(above, allowsSticky: isOutside(above))
        for part in path.split(atByte: "/", keepsEmpty: false) {
            above += above == "/" ? "\(part)" : "/\(part)"
            facts = try check(above, allowsSticky: isOutside(above))
        }
        return facts
    }

    private func check(_ path: String, allowsSticky: Bool) throws(InletError) -> FileFacts {
        guard let facts = SystemFile.facts(path) else {
            throw InletError(.notFound, "\(path) does not exist, or may not be read.")
        }
        guard facts.kind != .link else { throw Self.error("\(path) has become a symbolic link; try again.") }
        guard owners.contains(facts.owner) else {
            throw Self.error(
                "\(path) belongs to the user with id \(facts.owner), who is neither root nor the user of Inlet. "
                    + "Give it to one of them with chown.")
        }
        guard !facts.isWritableByOthers || allowsSticky && facts.isSticky else {
            throw Self.error(
                "\(path) may be written to by others (its mode is \(String(facts.mode, radix: 8))). "
                    + "Take that away with chmod go-w.")
        }
        return facts
    }

    private static func error(_ message: String) -> InletError { InletError(.pluginRejected, message) }
}
