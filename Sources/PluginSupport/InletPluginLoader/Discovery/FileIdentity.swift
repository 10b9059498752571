/// A file at a point in time: another file at the same path, or new content, has a different identity.
struct FileIdentity: Sendable, Hashable, Codable {
    /// The path with all links followed.
    let path: String
    let device: UInt64
    let inode: UInt64
    /// When its content last changed, in nanoseconds since 1970.
    let modified: Int64
    let size: Int64

    init(path: String, _ facts: FileFacts) {
        self.path = path
        device = facts.device
        inode = facts.inode
        modified = facts.modified
        size = facts.size
    }
}
