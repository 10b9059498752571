public import InletCore

/// The manifest of a plug-in, `NAME.inlet.json`, read without running any of its code.
///
/// `Docs/reference/plugin-manifest.md` describes the format.
public struct PluginManifest: Sendable, Hashable {
    /// The code of a plug-in, as its manifest names it.
    public enum Code: Sendable, Hashable {
        /// The path of a shared library, relative to the manifest's folder.
        case library(String)
        /// A program and its arguments.
        case command([String])
    }

    /// The format that this version of Inlet reads: the value of `inlet-plugin`.
    public static let format = 1
    /// The suffix of a manifest's file name.
    public static let fileSuffix = ".inlet.json"
    /// The most bytes of a manifest: 64 KiB.
    public static let longest = 65_536

    /// The name of the plug-in: lower-case letters, digits and hyphens.
    public let name: String
    /// The version of the plug-in, for people.
    public let version: String
    /// The licence as an SPDX expression.
    public let license: String
    /// A description of the plug-in, in a sentence.
    public let summary: String
    /// The code to load or to start.
    public let code: Code
    /// The sources that it offers.
    public let sources: [PluginEndpoint]
    /// The sinks that it offers.
    public let sinks: [PluginEndpoint]
    /// The plug-in's permissions beyond computing.
    public let permissions: PluginPermissions
    /// The most memory that it may use, in bytes; nil for the default of ``PluginProgram/memoryLimit``.
    public let memoryLimit: Int?

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - file: its path, for errors. The name of the plug-in must be the file's name without ``fileSuffix``.
    /// - Throws: ``InletError/Code/pluginRejected`` with all errors: the line, the key and the correction.
    public init(_ bytes: [UInt8], file: String) throws(InletError) {
        let (manifest, problems) = Self.check(bytes, file: file)
        guard let manifest, problems.isEmpty else {
            let shown = problems.prefix(Self.mostProblems).joined(separator: "; ")
            let more = problems.count > Self.mostProblems ? "; and \(problems.count - Self.mostProblems) more" : ""
            throw InletError(.pluginRejected, "The manifest \(file) cannot be used. \(shown)\(more).")
        }
        self = manifest
    }

    private static let mostProblems = 12

    /// Returns the manifest, if it can be read, and all its errors, a sentence each.
    package static func check(_ bytes: [UInt8], file: String) -> (manifest: PluginManifest?, problems: [String]) {
        guard bytes.count <= longest else {
            return (nil, ["it has \(bytes.count) bytes; a manifest has at most \(longest)"])
        }
        do throws(InletError) {
            var reader = ManifestReader()
            let manifest = reader.manifest(try JSONReader.read(bytes), file: file)
            return (manifest, reader.problems)
        } catch {
            return (nil, [error.message])
        }
    }

    init(
        name: String, version: String, license: String, summary: String, code: Code, sources: [PluginEndpoint],
        sinks: [PluginEndpoint], permissions: PluginPermissions, memoryLimit: Int?
    ) {
        self.name = name
        self.version = version
        self.license = license
        self.summary = summary
        self.code = code
        self.sources = sources
        self.sinks = sinks
        self.permissions = permissions
        self.memoryLimit = memoryLimit
    }

    /// Every scheme of its sources.
    public var sourceSchemes: [String] { sources.flatMap(\.schemes) }
    /// Every scheme of its sinks.
    public var sinkSchemes: [String] { sinks.flatMap(\.schemes) }
}
