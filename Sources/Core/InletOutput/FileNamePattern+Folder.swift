import Glibc

// Unsafe: reads the entries of a folder.
extension FileNamePattern {
    /// Returns the names of all files in a folder, of any kind, unordered; an empty list if it cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let list = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(list) }
        var found: [String] = []
        while let entry = unsafe readdir(list) {
            found.append(
                unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                    unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                })
        }
        return found
    }

    /// The names of this pattern in its folder, of files of any kind, unordered.
    private var names: [(name: String, match: Match)] {
        Self.names(in: folder.isEmpty ? "." : folder).compactMap { name in match(name).map { (name, $0) } }
    }

    /// The highest number among the names of this pattern in its folder; 0 if no name matches.
    package var highestNumber: Int { hasNumber ? names.reduce(0) { max($0, $1.match.number) } : 0 }

    /// The regular files of this pattern in its folder, unordered.
    package var files: [(path: String, match: Match, byteCount: Int)] {
        names.compactMap { name, match in
            let path = folder + name
            var facts = stat()
            guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            return (path, match, Int(facts.st_size))
        }
    }

    /// Returns the first path that is not taken: with the next free number, or else with `-2` and so on before the
    /// extension.
    ///
    /// - Parameter number: the number to begin with; on return that of the path.
    package func freePath(number: inout Int, time: Int64, sequence: UInt64 = 0) -> String {
        var copy = 1
        while true {
            let path = path(number: number, time: time, sequence: sequence, copy: copy)
            var facts = stat()
            // A dangling link takes the name, too.
            guard unsafe lstat(path, &facts) == 0 else { return path }
            if hasNumber { number += 1 } else { copy += 1 }
        }
    }
}
