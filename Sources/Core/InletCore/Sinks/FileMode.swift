/// The permissions of a file that a sink makes, as for chmod(1): `600` is its owner only.
///
/// A file has exactly this mode, whatever the umask is. The default of every sink is ``owner``: pictures of a camera
/// are private.
public struct FileMode: Sendable, Hashable {
    /// The permission bits: read and write for owner, group and others.
    public let bits: UInt16

    /// Reading and writing by the owner only: 600.
    public static let owner = FileMode(trusted: 0o600)

    /// Makes a mode from permission bits, or returns nil if the owner may not read and write, or if there are bits for
    /// anything except reading and writing.
    public init?(_ bits: UInt16) {
        guard bits & 0o600 == 0o600, bits & ~0o666 == 0 else { return nil }
        self.init(trusted: bits)
    }

    private init(trusted bits: UInt16) { self.bits = bits }

    /// The mode of a folder for such files: users with read access may also list and enter it.
    public var folderBits: UInt16 { bits | (bits & 0o444) >> 2 }
}

extension FileMode: OptionValue {
    /// Reads octal digits such as `600` or `0644`.
    public init?(optionText: String) {
        guard (3...4).contains(optionText.utf8.count), optionText.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
            let bits = UInt16(optionText, radix: 8)
        else { return nil }
        self.init(bits)
    }

    /// The mode as three octal digits.
    public var optionText: String { String(bits, radix: 8) }

    /// Octal digits, with an example.
    public static var typeDescription: String { "OCTAL such as 600 or 644" }
}
