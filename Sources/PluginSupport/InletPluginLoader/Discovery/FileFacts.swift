/// The system's metadata of a file or folder.
struct FileFacts: Sendable, Hashable {
    /// The kinds of files that are distinguished.
    enum Kind: Sendable, Hashable { case file, folder, link, other }

    var kind: Kind
    /// The user id of its owner.
    var owner: UInt32
    /// The permission bits, with the sticky bit.
    var mode: UInt32
    var device: UInt64
    var inode: UInt64
    /// When its content last changed, in nanoseconds since 1970.
    var modified: Int64
    var size: Int64

    /// Whether group or others may write to it.
    var isWritableByOthers: Bool { mode & 0o022 != 0 }
    /// Whether it is a folder in which only the owner of an entry may remove or rename it.
    var isSticky: Bool { kind == .folder && mode & 0o1000 != 0 }
}
