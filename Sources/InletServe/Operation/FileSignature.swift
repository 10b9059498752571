#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What tells one content of a file from another without reading it.
package struct FileSignature: Sendable, Equatable {
    private var numbers: [Int]

    /// The signature of the file at a path; empty if there is none.
    package init(path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            numbers = []
            return
        }
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        numbers = [Int(truncatingIfNeeded: facts.st_ino), Int(facts.st_size), time.tv_sec, time.tv_nsec]
    }
}

/// Decides when a file that is looked at again and again has changed for good: when it looks different from what was
/// read, and the same twice. An editor may write a file in several steps. Pure.
package struct FileChange: Sendable {
    private var read: FileSignature
    private var seen: FileSignature

    /// - Parameter read: the signature of the file as it was read.
    package init(read: FileSignature) { (self.read, seen) = (read, read) }

    /// Notes a look.
    ///
    /// - Returns: whether the file must be read again now.
    package mutating func note(_ now: FileSignature) -> Bool {
        defer { seen = now }
        guard now == seen, now != read else { return false }
        read = now
        return true
    }
}
