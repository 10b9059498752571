import InletCore
import InletSystem
import Logging
import Synchronization

/// The recordings of one camera: their order, and their use of the disk. Methods wait for the disk. Safe from any
/// thread.
///
/// Recordings are numbered in the order in which they begin. The number is in the note next to the recording, so the
/// order does not depend on a clock: neither the camera's, which names a recording, nor the machine's.
final class RecordingStore: Sendable {
    let folder: RecordingFolder
    /// The threads for tasks that read or delete recordings.
    let lane: FileLane
    private let logger: Logger
    private let state = Mutex(State())

    /// A recording.
    struct Entry: Sendable {
        /// The name of its file, which also names it in the API.
        var name: String
        /// The recording's position among all recordings of the camera.
        var number: Int64
        var fields: RecordingFolder.Fields
        /// The size of its files in bytes.
        var byteCount: Int

        /// The sort key of a recording. Recordings with equal numbers were made before recordings had numbers.
        fileprivate var key: (Int64, Int64, Int, String) { (number, fields.began ?? 0, fields.copy, name) }
    }

    private struct State {
        /// The recordings in order; nil until the folder has been read.
        var entries: [Entry]?
        /// The names of the recordings that are being written.
        var writing: Set<String> = []
        /// Whether the last deletion failed.
        var hasFailed = false
    }

    init(_ folder: RecordingFolder, lane: FileLane, logger: Logger) {
        (self.folder, self.lane, self.logger) = (folder, lane, logger)
    }

    // MARK: Writing

    /// Creates the folder, and assigns a name and a number to a new recording.
    ///
    /// - Parameter time: the time of day of its first picture, in nanoseconds since 1970.
    /// - Throws: an error made of the `errno`.
    func begin(at time: Int64) throws(InletError) -> Entry {
        try state.withLock { state throws(InletError) in
            try folder.make()
            var entries = read(&state)
            var name = folder.freeName(at: time)
            // Needed for a camera whose clock always shows the same time.
            if folder.fields(of: name) == nil { name = folder.freeName(at: WallTime.now) }
            guard let fields = folder.fields(of: name) else {
                throw InletError(
                    .resourceExhausted, "Too many recordings have the same time in '\(folder.path)'. Delete some.")
            }
            let number = (entries.last?.number ?? 0).adding(saturating: 1)
            let entry = Entry(name: name, number: number, fields: fields, byteCount: 0)
            entries.append(entry)
            state.entries = entries
            state.writing.insert(name)
            return entry
        }
    }

    /// Called when a recording is complete.
    func end(_ name: String) {
        state.withLock { state in
            state.writing.remove(name)
            measure(name, &state)
        }
    }

    private func measure(_ name: String, _ state: inout State) {
        guard let index = state.entries?.lastIndex(where: { $0.name.isSameBytes(as: name) }) else { return }
        state.entries?[index].byteCount = folder.sizes(of: name).total
    }

    // MARK: Retention

    /// Deletes the oldest recordings while all of them together exceed a limit, and logs each deletion. Recordings that
    /// are being written are kept, and so is the one that was completed last.
    ///
    /// - Parameter size: the limit in bytes.
    /// - Returns: whether the rest is within the limit.
    @discardableResult
    func retain(_ size: Int) -> Bool {
        state.withLock { state in
            var entries = read(&state)
            for name in state.writing { measure(name, &state) }
            entries = state.entries ?? entries
            var total = entries.reduce(Int128(0)) { $0 + Int128($1.byteCount) }
            let last = entries.last { !state.writing.contains($0.name) }?.name
            var deleted: Set<String> = []
            for entry in entries where total > size {
                guard entry.name != last, !state.writing.contains(entry.name) else { continue }
                do throws(InletError) {
                    try folder.delete(entry.name)
                    deleted.insert(entry.name)
                    total -= Int128(entry.byteCount)
                    logger.notice(
                        "Deleted the recording \(entry.name) of \(entry.byteCount) bytes: keep-size is \(size).")
                    state.hasFailed = false
                } catch {
                    report(error, "Cannot delete a recording to keep at most \(size) bytes", &state)
                    break
                }
            }
            do throws(InletError) {
                if !deleted.isEmpty { try folder.syncNames() }
            } catch {
                report(error, "A power cut could bring deleted recordings back", &state)
            }
            state.entries = entries.filter { !deleted.contains($0.name) }
            return total <= size
        }
    }

    /// Logs a failed deletion once: further ones fail for the same reason, and are tried again at the next check.
    private func report(_ error: InletError, _ consequence: String, _ state: inout State) {
        if !state.hasFailed { logger.error("\(consequence): \(error)") }
        state.hasFailed = true
    }

    /// Compares the known recordings with the folder, because people may have deleted or added some.
    func refresh() {
        state.withLock { state in
            guard let entries = state.entries else { return }
            let names = folder.names
            var known = entries.filter { names.contains($0.name) || state.writing.contains($0.name) }
            let added = names.subtracting(known.map(\.name))
            if !added.isEmpty { known = Self.merged(known, found(added)) }
            state.entries = known
        }
    }

    // MARK: Reading

    /// A page of the list of recordings. A page with long notes has fewer recordings.
    struct Page: Sendable {
        /// The bytes of notes after which a page ends.
        fileprivate static let noteLimit = 262_144

        struct Item: Sendable {
            var entry: Entry
            /// The bytes of the recording without its note.
            var byteCount: Int
            var note: JSONValue?
            /// Whether the recording is being written.
            var isCurrent: Bool
        }

        var items: [Item] = []
        /// The cursor of the next page; nil at the end.
        var next: String?
    }

    /// Returns a page of the list.
    ///
    /// - Parameters:
    ///   - cursor: ``Page/next`` of the previous page; nil for the first page.
    ///   - isNewestFirst: whether the newest recording comes first.
    ///   - limit: the maximum number of recordings.
    ///   - isCancelled: returns whether the rest of the page is no longer wanted.
    func page(
        after cursor: Cursor?, isNewestFirst: Bool, limit: Int, isCancelled: () -> Bool
    ) -> Page {
        var (entries, writing) = state.withLock { state in (read(&state), state.writing) }
        if isNewestFirst { entries.reverse() }
        if let cursor {
            let fields = folder.fields(of: cursor.name) ?? .init(copy: 1)
            let last = Entry(name: cursor.name, number: cursor.number, fields: fields, byteCount: 0).key
            entries.removeAll { isNewestFirst ? $0.key >= last : $0.key <= last }
        }
        var page = Page()
        var noteBytes = 0
        for entry in entries {
            if isCancelled() { break }
            let sizes = folder.sizes(of: entry.name)
            // The file was deleted by a person, or its first byte has not been written yet.
            guard let byteCount = sizes.recording else { continue }
            guard page.items.count < limit, noteBytes < Page.noteLimit else {
                page.next = page.items.last.map { Cursor(number: $0.entry.number, name: $0.entry.name).text }
                break
            }
            noteBytes += sizes.note ?? 0
            page.items.append(
                Page.Item(
                    entry: entry, byteCount: byteCount, note: folder.note(of: entry.name),
                    isCurrent: writing.contains(entry.name)))
        }
        return page
    }

    /// A position in the list. It remains valid when recordings are deleted.
    struct Cursor: Sendable {
        var number: Int64
        var name: String

        init(number: Int64, name: String) { (self.number, self.name) = (number, name) }

        /// Reads a cursor; nil if the text is not a cursor.
        init?(text: String) {
            let parts = text.split(atByte: "-", limit: 1)
            guard parts.count == 2, let number = TextBytes.number(parts[0].utf8, upTo: .max) else { return nil }
            (self.number, name) = (Int64(number), String(parts[1]))
        }

        var text: String { "\(number)-\(name)" }
    }

    /// Returns whether a recording exists.
    func contains(_ name: String) -> Bool {
        folder.fields(of: name) != nil && folder.sizes(of: name).recording != nil
    }

    /// Deletes a recording. Returns when the deletion is on the disk.
    ///
    /// - Parameter isTrial: whether to check only if the recording may be deleted.
    /// - Throws: ``InletError/Code/busy`` while it is being written; otherwise an error made of the `errno`.
    func delete(_ name: String, isTrial: Bool) throws(InletError) {
        try state.withLock { state throws(InletError) in
            guard !state.writing.contains(name) else {
                throw InletError(.busy, "The recording is being written. DELETE /v1/cameras/NAME/record ends it.")
            }
            guard !isTrial else { return }
            try folder.delete(name)
            state.entries?.removeAll { $0.name.isSameBytes(as: name) }
            try folder.syncNames()
        }
    }

    // MARK: The folder

    /// Returns the recordings in order. The first call reads the folder, and deletes what is unusable in it.
    private func read(_ state: inout State) -> [Entry] {
        if let entries = state.entries { return entries }
        do throws(InletError) {
            for name in try folder.deleteLeftovers() {
                logger.notice("Deleted \(name): an earlier run was killed while it wrote the file's first bytes.")
            }
        } catch {
            report(error, "Cannot delete unusable files of an earlier run", &state)
        }
        let entries = Self.merged([], found(folder.names))
        state.entries = entries
        return entries
    }

    private func found(_ names: Set<String>) -> [(entry: Entry, hasNumber: Bool)] {
        names.compactMap { name in
            guard let fields = folder.fields(of: name) else { return nil }
            let number = folder.number(of: name)
            let entry = Entry(name: name, number: number ?? 0, fields: fields, byteCount: folder.sizes(of: name).total)
            return (entry, number != nil)
        }
    }

    /// Merges known recordings with those found in the folder, in order. A recording without a known number follows the
    /// numbered ones that began before it.
    private static func merged(_ known: [Entry], _ found: [(entry: Entry, hasNumber: Bool)]) -> [Entry] {
        var result = known + found.compactMap { $0.hasNumber ? $0.entry : nil }
        var highest: [(began: Int64, number: Int64)] = []
        for entry in result.sorted(by: { ($0.fields.began ?? 0) < ($1.fields.began ?? 0) }) {
            highest.append((entry.fields.began ?? 0, max(entry.number, highest.last?.number ?? 0)))
        }
        for (entry, hasNumber) in found where !hasNumber {
            var entry = entry
            let began = entry.fields.began ?? 0
            let count = highest.partitioningIndex { $0.began > began }
            entry.number = count > 0 ? highest[count - 1].number : 0
            result.append(entry)
        }
        return result.sorted { $0.key < $1.key }
    }
}

extension [(began: Int64, number: Int64)] {
    /// Returns the first index from which on a condition is true.
    fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
