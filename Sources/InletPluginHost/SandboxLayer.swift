/// A layer of the sandbox that a user may give up by name.
enum SandboxLayer: String, CaseIterable {
    /// Which files may be opened, and for what.
    case landlock
    /// Which system calls may be made.
    case seccomp
    /// How much memory and how many descriptors there are.
    case limits
}
