/// A layer of the sandbox that a user may give up by name.
enum SandboxLayer: String, CaseIterable {
    /// Restricts the files that may be opened, and the access to them.
    case landlock
    /// Restricts the system calls that may be made.
    case seccomp
    /// Limits the memory and the number of descriptors.
    case limits
}
