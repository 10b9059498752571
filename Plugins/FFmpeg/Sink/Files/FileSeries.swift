import Glibc
import InletCore
import InletOutput
import Synchronization

// Unsafe: deletes files with `unlink`.
/// The files that one configuration writes, one after another: their names, and the rules for keeping them.
///
/// Shared by all sinks of the configuration, so that a sink created after a failure does not overwrite the files of
/// its predecessor. Safe from any thread.
final class FileSeries: Sendable {
    /// The segments of HLS.
    let segments = SegmentSeries()
    private let state = Mutex(State())

    private struct State {
        var names = Names()
        /// The names before the latest one was taken, to restore them if nothing is written under it.
        var earlier = Names()
        var newest: String?
        /// The notes of this run's files, for file systems that cannot store notes. Only filled if files are deleted.
        var marks: [String: RecordingMark] = [:]
    }

    private struct Names {
        var lastNumber: Int?
        var hasBegun = false
    }

    /// Opens the next file: the first one under a plain name, replacing an existing file, and later ones under an
    /// unused name.
    ///
    /// - Parameter time: the time when the file's first picture was taken, in nanoseconds since 1970; nil for now.
    /// - Throws: the errors of ``NewFile``.
    func begin(
        _ output: FFmpegOutput, _ pattern: FileNamePattern, at time: Int64?
    ) throws(InletError) -> RecordingFile {
        let now = RecorderTime.now
        let file = try state.withLock { state throws(InletError) in
            let before = state.names
            let file = try Self.open(pattern, output.mode, time ?? now.sinceEpoch, &state.names)
            (state.earlier, state.newest) = (before, file.path)
            return file
        }
        note(.begun, file, output, at: now)
        return file
    }

    private static func open(
        _ pattern: FileNamePattern, _ mode: FileMode, _ time: Int64, _ names: inout Names
    ) throws(InletError) -> RecordingFile {
        guard pattern.varies || names.hasBegun else {
            let path = pattern.path(number: 0, time: time)
            let file = try NewFile(path, mode: mode, existing: .replacedUnlessPipe)
            names.hasBegun = true
            return try RecordingFile(file, path: path)
        }
        var number = (names.lastNumber ?? pattern.highestNumber) + 1
        while true {
            let path = pattern.freePath(number: &number, time: time)
            do throws(InletError) {
                let file = try NewFile(path, mode: mode, existing: .kept)
                names = Names(lastNumber: number, hasBegun: true)
                return try RecordingFile(file, path: path)
            } catch {
                // Another writer has taken the name in the meantime.
                guard error.context.nativeCode == EEXIST else { throw error }
            }
        }
    }

    /// Records that a file is complete.
    func end(_ file: RecordingFile, _ output: FFmpegOutput) { note(.ended, file, output, at: .now) }

    /// Deletes a file without content and frees its name.
    func discard(_ file: RecordingFile) {
        file.remove()
        state.withLock { state in
            state.marks[file.path] = nil
            guard state.newest == file.path else { return }
            (state.names, state.newest) = (state.earlier, nil)
        }
    }

    private func note(
        _ event: RecordingMark.Event, _ file: RecordingFile, _ output: FFmpegOutput, at time: RecorderTime
    ) {
        guard output.deletesFiles else { return }
        let mark = RecordingMark(event, at: time)
        file.note(mark)
        state.withLock { $0.marks[file.path] = mark }
    }

    /// Deletes the files that are too old, and the oldest files while their total size is too large.
    ///
    /// - Parameters:
    ///   - current: the file that is being written, which is kept.
    ///   - space: the number of bytes to free on a full disk, by deleting the oldest files regardless of their age.
    /// - Returns: the paths of the deleted files.
    func retain(
        _ output: FFmpegOutput, _ pattern: FileNamePattern, current: String?, freeing space: Int = 0
    ) -> [String] {
        guard output.deletesFiles else { return [] }
        let now = RecorderTime.now
        let known = state.withLock { $0.marks }
        let files = pattern.files.map { path, match, byteCount in
            Retention.File(
                path: path, match: match, byteCount: byteCount, mark: known[path] ?? RecordingMark(path: path))
        }
        let deleted = Retention(keptSize: output.keptSize, keptAge: output.keptAge).apply(
            to: Retention.ordered(files, byNumber: pattern.hasNumber, now: now), current: current, now: now,
            freeing: space, delete: { unsafe unlink($0) == 0 })
        // Otherwise a power cut could bring the files back. The deletions are in effect, whether or not this succeeds.
        if !deleted.isEmpty { try? StagedFile.syncNames(in: pattern.folder.isEmpty ? "." : pattern.folder) }
        let left = Set(files.map(\.path)).subtracting(deleted)
        state.withLock { $0.marks = $0.marks.filter { left.contains($0.key) } }
        return deleted
    }
}
