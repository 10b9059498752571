/// The files and environment variables of this machine that options of a URI may read: those that hold secrets, named
/// by `password-file=PATH` and `token-env=NAME`, and other files that options name, such as `tls-ca=PATH`.
///
/// The author of a URI may not be allowed to read them: a URI could send the content of any file to a server as a
/// password. So a registry denies all access by default. Grant access only if all authors of URIs are trusted, as the
/// `inlet` command trusts its user at the terminal.
public struct LocalAccess: Sendable {
    /// The place of a stored secret.
    public enum Place: Sendable, Hashable {
        /// The whole content of the file at a path.
        case file(String)
        /// The value of the environment variable with a name.
        case variable(String)
    }

    /// The longest secret that is accepted: 16 KiB.
    public static let longestSecret = 16_384

    /// Reads nothing: the default of a registry.
    public static let denied = LocalAccess(reader: nil)

    private let reader: (@Sendable (Place) throws(InletError) -> [UInt8])?

    private init(reader: (@Sendable (Place) throws(InletError) -> [UInt8])?) { self.reader = reader }

    /// Grants access through `read`. Paths of files that are not secret, such as for `tls-ca`, are passed to the
    /// plug-in unchanged.
    ///
    /// - Parameter read: returns the bytes at a place; called on the thread on which the URI is read. It should return
    ///   at most one byte more than ``longestSecret``, should not block, and throws an error that describes the failure
    ///   but must not quote the bytes read.
    public init(_ read: @escaping @Sendable (Place) throws(InletError) -> [UInt8]) { self.init(reader: read) }

    /// Returns the secret at a place, without its final line ending, if any.
    ///
    /// - Parameter option: the option that requests it, for errors.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if there is no access, or the content is empty, is too long,
    ///   is not UTF-8 or holds control characters, as a second line would be; the error that reading threw.
    package func secret(_ place: Place, option: String) throws(InletError) -> String {
        guard let reader else { throw Self.refusal(option) }
        var bytes = try reader(place)[...]
        guard bytes.count <= Self.longestSecret else {
            throw Self.error("\(place) is too long for a secret: \(option) reads at most \(Self.longestSecret) bytes.")
        }
        if bytes.last == UInt8(ascii: "\n") {
            bytes.removeLast()
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard !bytes.isEmpty else { throw Self.error("\(place), which \(option) names, is empty.") }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }), let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.error("\(place), which \(option) names, is not one line of UTF-8 text, as a secret is.")
        }
        return text
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` if options may not name files.
    func checkPath(option: String) throws(InletError) {
        if reader == nil { throw Self.refusal(option) }
    }

    private static func refusal(_ option: String) -> InletError {
        error(
            "The option '\(option)' is refused: this application reads neither files nor the environment for a URI. "
                + "It can set PluginRegistry.localAccess if it trusts the authors of its URIs.")
    }

    private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
}

extension LocalAccess.Place: CustomStringConvertible {
    /// The kind of place, and its path or name.
    public var description: String {
        switch self {
        case .file(let path): "The file '\(path)'"
        case .variable(let name): "The environment variable '\(name)'"
        }
    }
}
