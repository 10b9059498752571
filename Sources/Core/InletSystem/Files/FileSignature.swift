import Glibc

// Unsafe: passes a struct to `stat`.
/// Metadata that distinguishes one state of a file from another without reading it: its content and its permissions.
package struct FileSignature: Sendable, Equatable {
    private var numbers: [Int]
    /// Whether the file has no name any more: it is the former content of a file that was mounted by itself, as in a
    /// container, and then replaced outside.
    package private(set) var isOrphaned = false

    /// Creates the signature of the file at a path; empty if no file exists.
    package init(path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            numbers = []
            return
        }
        let times = [facts.st_mtim, facts.st_ctim]
        isOrphaned = facts.st_nlink == 0
        // The second time also changes with the mode, the owner and the access list (inode(7)).
        numbers =
            [Int(truncatingIfNeeded: facts.st_ino), Int(facts.st_size)] + times.flatMap { [$0.tv_sec, $0.tv_nsec] }
    }
}
