import Glibc
import InletCore
import InletOutput
import InletSystem

// Unsafe: creates folders, syncs and deletes files.
/// The folder with the recordings of one camera: its files and their names. Methods wait for the disk. Safe from any
/// thread.
struct RecordingFolder: Sendable {
    /// The path of the folder, without a trailing slash.
    let path: String
    /// The folder that holds the folders of all cameras.
    let root: String
    private let pattern: FileNamePattern

    /// - Throws: ``InletError/Code/invalidConfiguration`` if the folder's name is invalid.
    init(_ root: String, camera: String) throws(InletError) {
        self.root = Self.trimmed(root)
        path = "\(self.root)/\(camera)"
        pattern = try FileNamePattern("\(Self.escaped(path))/{utc}.mp4")
    }

    /// Returns the path of a folder without empty components: `/a/b` for `/a//b/`.
    private static func trimmed(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(atByte: "/") where !part.isEmpty { parts.append(part) }
        return (path.hasBytePrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }

    /// Returns a path with the characters of file name patterns escaped.
    private static func escaped(_ path: String) -> String {
        var text: [UInt8] = []
        for byte in path.utf8 {
            text.append(byte)
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "%") { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the URI of a sink that writes the source's original packets to a recording.
    func sinkURI(of name: String) -> String {
        "mp4:\(PercentEncoding.encode(Self.escaped("\(path)/\(name)")))?codec=copy"
    }

    /// Returns the path of a recording.
    func path(of name: String) -> String { "\(path)/\(name)" }

    static let noteExtension = ".json"

    private func notePath(of name: String) -> String { path(of: name) + Self.noteExtension }

    /// Creates the folder if it does not exist.
    ///
    /// - Throws: an error made of the `errno`.
    func make() throws(InletError) {
        for folder in [root, path] {
            if unsafe mkdir(folder, 0o700) == 0 {
                try StagedFile.syncName(of: folder)
            } else if errno != EEXIST {
                throw InletError(errno: errno, operation: "mkdir", path: folder)
            }
        }
    }

    // MARK: Names

    /// The fields of a recording's name.
    struct Fields: Sendable {
        /// The time of day of the first picture, in nanoseconds since 1970; nil if the clock showed a time before 1970.
        var began: Int64?
        /// A number that distinguishes recordings of the same time.
        var copy: Int
    }

    /// Returns the fields of a recording's name; nil for any other text, such as a path.
    func fields(of name: String) -> Fields? { pattern.match(name).map { Fields(began: $0.began, copy: $0.copy) } }

    /// Returns an unused name.
    ///
    /// - Parameter time: the time of day of the first picture, in nanoseconds since 1970.
    func freeName(at time: Int64) -> String {
        var number = 1
        return String(pattern.freePath(number: &number, time: time).split(atByte: "/").last ?? "")
    }

    /// The names of all recordings that have a file or a note.
    var names: Set<String> {
        var found: Set<String> = []
        for name in FileNamePattern.names(in: path) {
            let name = name.hasByteSuffix(Self.noteExtension) ? String(name.dropLast(Self.noteExtension.count)) : name
            if fields(of: name) != nil { found.insert(name) }
        }
        return found
    }

    // MARK: Files

    /// The sizes of a recording's files in bytes, each nil if there is no such file.
    struct Sizes: Sendable {
        var recording: Int?
        var note: Int?

        var total: Int { (recording ?? 0).adding(saturating: note ?? 0) }
    }

    /// Returns the sizes of a recording's files.
    func sizes(of name: String) -> Sizes {
        Sizes(recording: Self.size(path(of: name)), note: Self.size(notePath(of: name)))
    }

    private static func size(_ path: String) -> Int? {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(facts.st_size)
    }

    /// Writes the note of a recording.
    ///
    /// - Throws: the error of the file.
    func write(_ note: RecordingNote, of name: String) throws(InletError) {
        try StagedFile.write(
            Array((JSONValue.object(note.members).text(isIndented: true) + "\n").utf8), to: notePath(of: name),
            mode: .owner, overwrites: true, isDurable: true)
    }

    /// Returns the note of a recording; nil if it cannot be read.
    func note(of name: String) -> JSONValue? {
        let note = noteBytes(of: name, most: RecordingNote.longest).flatMap { try? JSONReader.read($0) }
        return note?.members == nil ? nil : note
    }

    /// Returns the number in the note of a recording; nil if the note has no number.
    func number(of name: String) -> Int64? {
        noteBytes(of: name, most: RecordingNote.numberLength).flatMap(RecordingNote.number(atStartOf:))
    }

    private func noteBytes(of name: String, most: Int) -> [UInt8]? {
        try? RegularFile.read(notePath(of: name), most: most, content: "a note", advice: "It is not a note.")
    }

    /// Waits until the content of a recording has been written to the disk.
    ///
    /// - Throws: an error made of the `errno`.
    func sync(_ name: String) throws(InletError) {
        let descriptor = unsafe open(path(of: name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw InletError(errno: errno, operation: "open", path: path(of: name)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw InletError(errno: errno, operation: "fsync", path: path(of: name)) }
    }

    /// Deletes a recording and its note. Until ``syncNames()``, a power cut can bring them back.
    ///
    /// - Throws: an error made of the `errno`.
    func delete(_ name: String) throws(InletError) {
        // The note is deleted last, because without it the order of the recordings would be lost.
        for path in [path(of: name), notePath(of: name)] where unsafe unlink(path) != 0 && errno != ENOENT {
            throw InletError(errno: errno, operation: "unlink", path: path)
        }
    }

    /// Waits until deletions are on the disk.
    ///
    /// - Throws: an error made of the `errno`.
    func syncNames() throws(InletError) { try StagedFile.syncNames(in: path) }
}
