import FoundationEssentials
import InletCore

/// A file with the interfaces that plug-ins had at their last probe, so that a plug-in is started for this once and not
/// in every process.
///
/// An entry is valid only for the same files, with their inodes, times and sizes, and for this version of Inlet. Only
/// successes are stored: the cause of a failure, such as a missing library, may be fixed without a change of the
/// plug-in's files. A broken, foreign or unreadable file is treated as empty.
struct ProbeCache: Sendable {
    /// The result of a probe.
    struct Entry: Codable, Hashable {
        /// The manifest and the code files.
        var files: [FileIdentity]
        /// The ids of the interfaces.
        var interfaces: [String]
    }

    /// The content of the file.
    private struct Content: Codable {
        var format: Int
        var version: String
        var entries: [Entry]
    }

    private static let format = 1
    private static let longest = 1 << 20
    private static let mostEntries = 512

    /// The path of the file; nil stores nothing.
    let path: String?
    /// The version of Inlet for which entries are valid.
    let version: String
    private var entries: [Entry] = []
    private var isChanged = false

    /// The path of the file by the environment: `inlet/plugins.json` in `$XDG_CACHE_HOME`, or else in `~/.cache`; nil
    /// if neither is known.
    static var standardPath: String? {
        path(cache: SystemFile.variable("XDG_CACHE_HOME"), home: SystemFile.variable("HOME"))
    }

    static func path(cache: String?, home: String?) -> String? {
        if let cache, cache.hasBytePrefix("/") { return "\(cache)/inlet/plugins.json" }
        guard let home, home.hasBytePrefix("/") else { return nil }
        return "\(home)/.cache/inlet/plugins.json"
    }

    /// Reads the file, if it exists and only trusted users can have written it.
    init(path: String?, version: String, trust: FileTrust) {
        self.path = path
        self.version = version
        guard let path, let identity = try? trust.checkFile(path, within: nil),
            let (bytes, _) = try? SystemFile.read(identity.path, most: Self.longest), bytes.count <= Self.longest,
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.format == Self.format, content.version.isSameBytes(as: version),
            content.entries.count <= Self.mostEntries
        else { return }
        entries = content.entries
    }

    /// Returns the interfaces that exactly these files had; nil if they have not been probed.
    func interfaces(of files: [FileIdentity]) -> Set<String>? {
        entries.first { $0.files == files }.map { Set($0.interfaces) }
    }

    /// Stores the result of a probe. It replaces the result of the same manifest.
    mutating func add(_ interfaces: Set<String>, of files: [FileIdentity]) {
        entries.removeAll { $0.files.first?.path == files.first?.path }
        entries.append(Entry(files: files, interfaces: interfaces.sorted()))
        if entries.count > Self.mostEntries { entries.removeFirst(entries.count - Self.mostEntries) }
        isChanged = true
    }

    /// Writes the file if something was added. Nothing depends on its success.
    mutating func save() {
        guard isChanged, let path, let slash = path.lastIndex(ofByte: "/") else { return }
        isChanged = false
        let folder = String(path[..<slash])
        let content = Content(format: Self.format, version: version, entries: entries)
        guard let data = try? JSONEncoder().encode(content) else { return }
        if let above = folder.lastIndex(ofByte: "/"), above != folder.startIndex {
            try? SystemFile.makeFolder(String(folder[..<above]))
        }
        do throws(InletError) {
            try SystemFile.makeFolder(folder)
            try SystemFile.replace(path, with: Array(data))
        } catch {
            // The next process probes again.
        }
    }
}
