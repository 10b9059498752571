import Glibc
import InletSystem

// Unsafe: reads the environment.
extension LocalAccess {
    /// Access to the files that this process may read and to its environment. For a registry whose URIs all come from a
    /// user who may read these, too.
    ///
    /// Secrets are read when the URI is parsed, up to ``longestSecret`` bytes. Relative paths begin at the working
    /// directory. Symbolic links are followed, because mounted secrets often are links. Anything but a regular file is
    /// refused without waiting, because a pipe may never have a writer.
    public static let system = LocalAccess { place throws(InletError) in
        switch place {
        case .file(let path):
            try RegularFile.read(
                path, most: longestSecret, content: "a secret",
                advice: "A secret is read from a file or the environment.")
        case .variable(let name): try value(of: name)
        }
    }

    private static func value(of name: String) throws(InletError) -> [UInt8] {
        guard !name.isEmpty, !name.utf8.contains(0), let value = unsafe getenv(name) else {
            throw InletError(.invalidConfiguration, "The environment variable '\(name)' is not set.")
        }
        return unsafe Array(UnsafeBufferPointer(start: value, count: min(strlen(value), longestSecret + 1)))
            .map { UInt8(bitPattern: $0) }
    }
}
