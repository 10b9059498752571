import InletCore
import InletOutput

/// Decides which files of a series to delete, by the recorder's own knowledge of their times.
///
/// Pure. The file system's times are ignored, because clocks are set, and copying or touching a file changes them.
/// Files have an order, which bounds their ages: later ones are younger.
struct Retention {
    /// The total size in bytes above which the oldest files are deleted.
    var keptSize: Int?
    /// The age above which files are deleted.
    var keptAge: Duration?

    struct File: Equatable {
        var path: String
        var match: FileNamePattern.Match
        var byteCount: Int
        /// The recorder's note on the file.
        var mark: RecordingMark?
    }

    /// Returns the files in the order of recording: by number if their names have one. Otherwise files that are not
    /// known to be from the current boot come first, by the time in their names.
    static func ordered(_ files: [File], byNumber: Bool, now: RecorderTime) -> [File] {
        func key(_ file: File) -> (Int, Int64, Int, String) {
            guard !byNumber else { return (0, Int64(file.match.number), file.match.copy, file.path) }
            guard let mark = file.mark, !mark.time.boot.isEmpty, mark.time.boot == now.boot else {
                return (0, file.match.began ?? file.mark?.time.sinceEpoch ?? 0, file.match.copy, file.path)
            }
            return (1, mark.time.sinceBoot, file.match.copy, file.path)
        }
        return files.map { (key($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Returns the minimum time for which each file has been complete, in the files' order.
    ///
    /// A file ended at the time in its note, or else before the next one began. If neither is known, it gets the age
    /// of the next one. No file counts as older than an earlier one: a wrong time of day in a note makes files stay
    /// longer, but never deletes them too early.
    static func ages(_ files: [File], now: RecorderTime) -> [Duration] {
        var ages: [Duration?] = []
        var least: Duration?
        for (index, file) in files.enumerated() {
            var age = file.mark.flatMap { $0.event == .ended ? now.age(of: $0.time) : nil }
            if age == nil, index + 1 < files.count {
                let next = files[index + 1]
                age = next.mark.flatMap { $0.event == .begun ? now.age(of: $0.time) : nil }
                if age == nil, next.mark == nil { age = next.match.began.flatMap { now.age(ofDay: $0) } }
            }
            guard let age else {
                ages.append(nil)
                continue
            }
            least = min(least ?? age, age)
            ages.append(least)
        }
        var next = Duration.zero
        return ages.reversed().map { age in
            next = age ?? next
            return next
        }.reversed()
    }

    /// Deletes files, starting with the oldest.
    ///
    /// - Parameters:
    ///   - files: the files in their order.
    ///   - current: the file that is being written, which is kept.
    ///   - space: the number of bytes to free in any case.
    ///   - delete: deletes a file, and returns whether it is gone.
    /// - Returns: the paths of the deleted files.
    func apply(
        to files: [File], current: String?, now: RecorderTime, freeing space: Int, delete: (String) -> Bool
    ) -> [String] {
        let ages = Self.ages(files, now: now)
        // A sparse file may have any size.
        var total = files.reduce(Int128(0)) { $0 + Int128($1.byteCount) }
        var freed = Int128(0)
        var deleted: [String] = []
        for (file, age) in zip(files, ages) where file.path != current {
            let isTooOld = keptAge.map { age > $0 } ?? false
            let isTooMuch = keptSize.map { total > $0 } ?? false
            guard isTooOld || isTooMuch || freed < space, delete(file.path) else { continue }
            total -= Int128(file.byteCount)
            freed += Int128(file.byteCount)
            deleted.append(file.path)
        }
        return deleted
    }
}
