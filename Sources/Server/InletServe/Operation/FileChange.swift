package import InletSystem

/// Decides when a file that is checked repeatedly has changed completely. It has when two successive checks agree with
/// each other and differ from the file that was read. An editor may write a file in several steps. Pure.
package struct FileChange: Sendable {
    private var read: FileSignature
    private var seen: FileSignature

    /// - Parameter read: the signature of the file when it was read.
    package init(read: FileSignature) { (self.read, seen) = (read, read) }

    /// Records a check.
    ///
    /// - Returns: whether the file must be read again now.
    package mutating func note(_ now: FileSignature) -> Bool {
        defer { seen = now }
        guard now == seen, now != read else { return false }
        read = now
        return true
    }
}
