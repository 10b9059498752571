import InletCore
import InletOutput

/// Which files of a series are to go, as far as the recorder knows by itself when they were made.
///
/// Pure. What the file system says of a file's times counts for nothing: clocks are set, and whoever copies or touches
/// a file changes them. Files have an order, and the order bounds their ages: what comes later is younger.
struct Retention {
    /// The oldest go while all have more bytes than this.
    var keptSize: Int?
    /// Files go that are older than this.
    var keptAge: Duration?

    struct File: Equatable {
        var path: String
        var match: FileNamePattern.Match
        var byteCount: Int
        /// What a recorder noted with it.
        var mark: RecordingMark?
    }

    /// The files in the order in which they were recorded: by number where names have one. Otherwise those come first
    /// that are not known to be of this start of the machine, by the time in their names.
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

    /// For how long each file has been complete at least, given in their order.
    ///
    /// A file ended when its note says so, or else before the next one began. One of which neither is known is taken to
    /// be as young as the next one, and none is older than any before it: a time of day that was wrong when it was
    /// noted makes files stay longer, and never go too early.
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

    /// What is to go, the oldest first.
    ///
    /// - Parameters:
    ///   - files: in their order.
    ///   - current: the file that is being written, which stays.
    ///   - space: bytes that are to become free in any case.
    ///   - delete: deletes a file, and tells whether it is gone.
    /// - Returns: the paths of those that are gone.
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
