package import InletSystem

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
