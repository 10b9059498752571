#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension FileNamePattern {
    /// The highest number among the files of this pattern that are in its folder; 0 where there is none.
    package var highestNumber: Int {
        guard hasNumber, let list = unsafe opendir(folder.isEmpty ? "." : folder) else { return 0 }
        defer { unsafe closedir(list) }
        var highest = 0
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            highest = max(highest, number(of: name) ?? 0)
        }
        return highest
    }

    /// The first path that nobody has: with the next number that is free, or else with `-2` and so on before the extension.
    ///
    /// - Parameter number: the number to begin with; afterwards that of the path.
    package func freePath(number: inout Int, time: Int64, sequence: UInt64 = 0) -> String {
        var copy = 1
        while true {
            let path = path(number: number, time: time, sequence: sequence, copy: copy)
            var facts = stat()
            // A link that leads nowhere has the name, too.
            guard unsafe lstat(path, &facts) == 0 else { return path }
            if hasNumber { number += 1 } else { copy += 1 }
        }
    }
}
