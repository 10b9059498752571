import FoundationEssentials
import InletCore
import InletOutput
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The files that one configuration writes, one after another: their names, and which of them are kept.
///
/// Shared by all sinks that the configuration makes, so that one made after a failure does not overwrite what the one before it wrote. Safe from
/// any thread.
final class FileSeries: Sendable {
    private let state = Mutex(State())

    private struct State {
        var lastNumber: Int?
        var hasBegun = false
    }

    /// A name for the file that begins now.
    func nextPath(of pattern: FileNamePattern, time: Int64) -> String {
        state.withLock { state in
            defer { state.hasBegun = true }
            guard pattern.varies || state.hasBegun else { return pattern.path(number: 0, time: time) }
            var number = (state.lastNumber ?? pattern.highestNumber) + 1
            defer { state.lastNumber = number }
            while true {
                let path = pattern.freePath(number: &number, time: time)
                // Takes the name, so that no other writer that looks at this moment does. What else is wrong is told when the file is opened.
                let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
                if descriptor >= 0 { close(descriptor) }
                guard descriptor < 0, errno == EEXIST else { return path }
            }
        }
    }

    struct File {
        var path: String
        var number: Int
        var byteCount: Int
        /// When it was last written to.
        var date: Date
    }

    /// The files in the pattern's folder that bear its names, the oldest first.
    static func files(of pattern: FileNamePattern) -> [File] {
        let folder = pattern.folder.isEmpty ? "." : pattern.folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let files = names.compactMap { name -> File? in
            guard let number = pattern.number(of: name) else { return nil }
            let path = pattern.folder + name
            guard let facts = try? FileManager.default.attributesOfItem(atPath: path),
                facts[.type] as? FileAttributeType == .typeRegular
            else { return nil }
            // An NSNumber in a program with Foundation, a UInt in one without.
            let size = (facts[.size] as? Int) ?? (facts[.size] as? any BinaryInteger).map { Int(clamping: $0) } ?? 0
            return File(
                path: path, number: number, byteCount: size, date: facts[.modificationDate] as? Date ?? .distantPast)
        }
        return files.sorted { ($0.date, $0.number, $0.path) < ($1.date, $1.number, $1.path) }
    }

    /// Deletes what is not to be kept: too old, or the oldest while there is too much.
    ///
    /// - Parameters:
    ///   - current: the file that is being written, which stays.
    ///   - space: the disk is full: the oldest go in any case until so many bytes are free.
    /// - Returns: the paths of the deleted files.
    static func retain(
        _ output: FFmpegOutput, _ pattern: FileNamePattern, current: String?, now: Date, freeing space: Int = 0
    ) -> [String] {
        guard output.keptSize != nil || output.keptAge != nil else { return [] }
        let files = files(of: pattern)
        var total = files.reduce(0) { $0 + $1.byteCount }
        var deleted: [String] = []
        var freed = 0
        for file in files where file.path != current {
            let isTooOld =
                output.keptAge.map { age in
                    now.timeIntervalSince(file.date) > Double(age.wholeNanoseconds) / 1e9
                } ?? false
            let isTooMuch = output.keptSize.map { total > $0 } ?? false
            guard isTooOld || isTooMuch || freed < space else { continue }
            guard (try? FileManager.default.removeItem(atPath: file.path)) != nil else { continue }
            total -= file.byteCount
            freed += file.byteCount
            deleted.append(file.path)
        }
        return deleted
    }
}
