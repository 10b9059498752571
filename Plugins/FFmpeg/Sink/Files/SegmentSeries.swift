import Glibc
import InletCore
import InletOutput
import Synchronization

// Unsafe: creates, lists and deletes files with system calls.
/// The playlist and the segments of an `hls:` folder.
///
/// Shared by all sinks of a configuration, and continued by later runs: names are not used twice, the playlist
/// continues, and an earlier run's leftovers are deleted. Safe from any thread.
final class SegmentSeries: Sendable {
    private let state = Mutex(State())

    private struct State {
        /// The playlist; nil until the folder was scanned.
        var playlist: MediaPlaylist?
        var nextNumber = 0
        /// The time in the stream at which the next segment begins.
        var elapsed = Duration.zero
        /// The folder, locked against other writers, and the number of sinks that write to it; nil without one.
        var lock: (descriptor: Int32, users: Int)?
    }

    deinit { if let lock = state.withLock({ $0.lock }) { Self.unlock(lock.descriptor) } }

    /// The maximum size of a playlist that is read, in bytes.
    private static let largestPlaylist = 64 << 20

    /// Locks the folder against other writers, until ``release()`` or the end of the process. Creates the folder if it
    /// does not exist.
    ///
    /// - Throws: ``InletError/Code/busy`` if another sink or process writes to the folder.
    func lock(_ output: FFmpegOutput) throws(InletError) {
        try state.withLock { state throws(InletError) in
            if state.lock == nil {
                try Self.makeFolder(output)
                state.lock = (try Self.lockedFolder(output.destination), 0)
            }
            state.lock?.users += 1
        }
    }

    /// Records that a sink that has locked the folder no longer writes to it.
    func release() {
        state.withLock { state in
            guard let lock = state.lock else { return }
            state.lock?.users -= 1
            guard lock.users <= 1 else { return }
            Self.unlock(lock.descriptor)
            state.lock = nil
        }
    }

    /// A child process that is about to start another program may keep the descriptor open for a moment, so closing it
    /// is not sufficient.
    private static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func lockedFolder(_ path: String) throws(InletError) -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InletError(errno: errno, operation: "open", path: path) }
        // Some network file systems do not lock folders; there, a second writer is not detected.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            throw InletError(
                .busy, "Another HLS sink writes to \(path). Choose another folder, or end the other sink.",
                context: .init(operation: "flock", nativeCode: EWOULDBLOCK))
        }
        return descriptor
    }

    /// Reads the files that an earlier run left. The folder is locked.
    ///
    /// - Returns: whether segments precede the next one, and the time in the stream at which it begins. Players based
    ///   on libavformat leave out fragments whose times are not later than the previous ones, whatever the playlist
    ///   states.
    @discardableResult func begin(_ output: FFmpegOutput) throws(InletError) -> (isContinued: Bool, elapsed: Duration) {
        try state.withLock { state throws(InletError) in
            if state.playlist == nil {
                try Self.load(output, &state)
            }
            // Longer segments are not possible if all segments stay listed.
            if output.playlistLength > 0, let target = state.playlist?.target, target < output.shortestTarget {
                state.playlist?.unlistAll()
            }
            let isContinued = state.playlist.map { !$0.segments.isEmpty || !$0.late.isEmpty } ?? false
            return (isContinued, state.elapsed)
        }
    }

    private static func makeFolder(_ output: FFmpegOutput) throws(InletError) {
        let path = output.destination
        if unsafe mkdir(path, 0o700) == 0 {
            // Makes the mode independent of the umask.
            guard unsafe chmod(path, mode_t(output.mode.folderBits)) != 0 else { return }
            throw InletError(errno: errno, operation: "chmod", path: path)
        }
        guard errno == EEXIST else { throw InletError(errno: errno, operation: "mkdir", path: path) }
    }

    private static func load(_ output: FFmpegOutput, _ state: inout State) throws(InletError) {
        let names = try names(in: output.folderPath)
        // Avoids the names of an earlier run whose files were deleted as well: caches may still contain those files.
        let now = Int(clamping: StagedFile.now / 1_000_000_000)
        state.nextNumber = max(now, 1_000_000_000, (names.map(\.number).max() ?? 0) + 1)
        let earlier = try text(of: output.playlistPath).flatMap {
            MediaPlaylist(text: $0, mostListed: output.playlistLength)
        }
        let playlist = earlier ?? MediaPlaylist(firstNumber: state.nextNumber, mostListed: output.playlistLength)
        state.playlist = playlist
        // Later than any time of an earlier run.
        if !playlist.segments.isEmpty { state.elapsed = .seconds(now) }
        // Files next to another program's playlist are not touched.
        guard earlier != nil, output.playlistLength > 0 else { return }
        let needed = playlist.files
        for name in names where !needed.contains(name.text) { delete(name.text, in: output) }
        _ = StagedFile.deleteLeftovers(in: output.folderPath) { $0 == FFmpegOutput.playlistName }
    }

    private static func names(in folder: String) throws(InletError) -> [SegmentName] {
        guard let list = unsafe opendir(folder) else {
            throw InletError(errno: errno, operation: "opendir", path: folder)
        }
        defer { unsafe closedir(list) }
        var names: [SegmentName] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if let name = SegmentName(name) { names.append(name) }
        }
        return names
    }

    /// Returns the text of a playlist; nil if it does not exist or is not a regular file.
    ///
    /// - Throws: an error if the playlist cannot be read, because it would be replaced and its segments would be lost.
    private static func text(of path: String) throws(InletError) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw InletError(errno: errno, operation: "open", path: path)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        guard facts.st_size <= largestPlaylist else {
            throw InletError(
                .resourceExhausted,
                "The playlist \(path) has more than \(largestPlaylist >> 20) MiB and cannot be continued. "
                    + "Move it away, or write to another folder.")
        }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard more >= 0 else { throw InletError(errno: errno, operation: "read", path: path) }
            if more == 0 { break }
            count += more
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func delete(_ name: String, in output: FFmpegOutput) {
        unsafe unlink("\(output.folderPath)/\(name)")
    }

    /// Opens a new file.
    func openFile(_ kind: SegmentName.Kind, _ output: FFmpegOutput) throws(InletError) -> (String, RecordingFile) {
        try state.withLock { state throws(InletError) in
            while true {
                let name = SegmentName(kind, state.nextNumber).text
                state.nextNumber += 1
                let path = "\(output.folderPath)/\(name)"
                do throws(InletError) {
                    return (name, try RecordingFile(NewFile(path, mode: output.mode, existing: .kept), path: path))
                } catch {
                    // Another writer has taken the name in the meantime.
                    guard error.context.nativeCode == EEXIST else { throw error }
                }
            }
        }
    }

    /// The maximum duration of the next segment; nil before the first.
    var longest: Duration? { state.withLock { $0.playlist?.longest } }

    /// Lists a complete segment, and deletes files that no player may request any more.
    ///
    /// - Parameter map: the initialization section of the next segment.
    func add(_ segment: MediaPlaylist.Segment, map: String?, _ output: FFmpegOutput) throws(InletError) {
        let unneeded = try state.withLock { state throws(InletError) -> [String] in
            state.playlist?.add(segment, shortestTarget: output.shortestTarget)
            state.elapsed += segment.length
            try Self.store(state.playlist, output, hasEnded: false)
            return state.playlist?.takeUnneeded(map: map) ?? []
        }
        for name in unneeded { Self.delete(name, in: output) }
    }

    /// Marks the playlist as ended.
    func end(_ output: FFmpegOutput) throws(InletError) {
        try state.withLock { state throws(InletError) in
            guard state.playlist?.segments.isEmpty == false else { return }
            try Self.store(state.playlist, output, hasEnded: true)
        }
    }

    private static func store(
        _ playlist: MediaPlaylist?, _ output: FFmpegOutput, hasEnded: Bool
    ) throws(InletError) {
        guard let playlist else { return }
        try StagedFile.write(
            Array(playlist.text(hasEnded: hasEnded).utf8), to: output.playlistPath, mode: output.mode, overwrites: true)
    }
}

extension FFmpegOutput {
    /// The folder of an HLS playlist. A relative path gets the prefix `./`, because libavformat reads a colon as the
    /// end of a protocol's name.
    var folderPath: String { destination.hasBytePrefix("/") ? destination : "./\(destination)" }

    /// The path of an HLS playlist.
    var playlistPath: String { folderPath + "/" + Self.playlistName }

    fileprivate static let playlistName = "index.m3u8"

    /// The duration of an HLS segment, which ends at the first key frame after it.
    var segmentLength: Duration { segment ?? .seconds(2) }

    /// The target duration of an HLS playlist in seconds, unless key frames are further apart.
    var shortestTarget: Int { Int((segmentLength / .seconds(1)).rounded(.up)) }
}
