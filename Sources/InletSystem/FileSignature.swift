#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

// Unsafe: passes a struct to `stat`.
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
