import InletCore
import InletOutput
import InletSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

// Unsafe: creates folders and deletes files.
/// The folder with the recordings of one camera. Its name comes from the configuration, and names of files from it are
/// only those that it lists. Blocks for the disk. Safe from any thread.
struct RecordingFolder: Sendable {
    /// The folder, without a slash at its end.
    let path: String
    private let root: String
    private let pattern: FileNamePattern

    /// A recording that is there.
    struct File: Sendable {
        /// The name of its file, which also names it in the API.
        var name: String
        var byteCount: Int
        /// When it began, in nanoseconds since 1970, by its name.
        var began: Int64
        /// Which of those with one time it is.
        var copy: Int
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` if the folder's name cannot be one.
    init(_ root: String, camera: String) throws(InletError) {
        self.root = Self.trimmed(root)
        path = "\(self.root)/\(camera)"
        pattern = try FileNamePattern("\(Self.escaped(path))/{utc}.mp4")
    }

    private static func trimmed(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(atByte: "/") where !part.isEmpty { parts.append(part) }
        return (path.hasBytePrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }

    /// Returns a path as a pattern of file names takes it.
    private static func escaped(_ path: String) -> String {
        var text: [UInt8] = []
        for byte in path.utf8 {
            text.append(byte)
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "%") { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the URI of a sink that writes a recording by the source's own packets.
    func sinkURI(of name: String) -> String {
        "mp4:\(PercentEncoding.encode(Self.escaped("\(path)/\(name)")))?codec=copy"
    }

    /// Returns the path of a recording's note.
    private func notePath(of name: String) -> String { "\(path)/\(name).json" }

    /// Makes the folder if there is none.
    ///
    /// - Throws: an error made of the `errno`.
    func make() throws(InletError) {
        for folder in [root, path] where unsafe mkdir(folder, 0o700) != 0 && errno != EEXIST {
            throw InletError(errno: errno, operation: "mkdir", path: folder)
        }
    }

    /// Returns a name that no recording has.
    ///
    /// - Parameter time: when it begins.
    func freeName(at time: Int64) -> String {
        var number = 1
        return String(pattern.freePath(number: &number, time: time).split(atByte: "/").last ?? "")
    }

    /// The recordings, the oldest first.
    var files: [File] {
        pattern.files.compactMap { path, match, byteCount in
            guard let began = match.began, let name = path.split(atByte: "/").last else { return nil }
            return File(name: String(name), byteCount: byteCount, began: began, copy: match.copy)
        }.sorted { ($0.began, $0.copy) < ($1.began, $1.copy) }
    }

    /// Returns a recording; nil if there is none of that name.
    func file(_ name: String) -> File? { files.first { $0.name.isSameBytes(as: name) } }

    /// Writes the note of a recording.
    ///
    /// - Throws: the error of the file.
    func write(_ note: RecordingNote, of name: String) throws(InletError) {
        try StagedFile.write(
            Array((JSONValue.object(note.members).text(isIndented: true) + "\n").utf8), to: notePath(of: name),
            mode: .owner, overwrites: true, isDurable: true)
    }

    /// Returns the note of a recording; nil if there is none that can be read.
    func note(of name: String) -> JSONValue? {
        guard
            let bytes = try? RegularFile.read(
                notePath(of: name), most: RecordingNote.longest, content: "a note", advice: "It is no note.")
        else { return nil }
        let note = try? JSONReader.read(bytes)
        return note?.members == nil ? nil : note
    }

    /// Deletes a recording and its note.
    ///
    /// - Throws: an error made of the `errno`.
    func delete(_ name: String) throws(InletError) {
        guard unsafe unlink("\(path)/\(name)") == 0 || errno == ENOENT else {
            throw InletError(errno: errno, operation: "unlink", path: "\(path)/\(name)")
        }
        unsafe unlink(notePath(of: name))
    }

    /// Deletes the oldest recordings while there is too much.
    ///
    /// - Parameters:
    ///   - size: the most bytes that are kept.
    ///   - current: the recording that is written, which is kept.
    /// - Returns: whether no more than that is left.
    func retain(_ size: Int, current: String?) -> Bool {
        var total = files.reduce(0) { $0 + $1.byteCount }
        for file in files where total > size && file.name != current {
            do throws(InletError) {
                try delete(file.name)
                total -= file.byteCount
            } catch {
                continue
            }
        }
        return total <= size
    }
}
