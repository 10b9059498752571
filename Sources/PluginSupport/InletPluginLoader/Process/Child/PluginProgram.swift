import Glibc
import InletCore

// Unsafe: reads a symbolic link in `/proc`.
/// The code of an installed plug-in, and how it is run.
public struct PluginProgram: Sendable, Hashable {
    /// The location of the code.
    public enum Code: Sendable, Hashable {
        /// The absolute path of a shared library that exports `inlet_plugin_entry`.
        case library(String)
        /// A program and its arguments, which implements the protocol of `inlet_plugin_protocol.h` itself.
        case command([String])
    }

    /// The name of the plug-in, as its manifest states it.
    public var name: String
    /// The location of the code.
    public var code: Code
    /// The resources that its process may use. The default is nothing.
    public var permissions: PluginPermissions
    /// Files that it may read and write, which are created empty before it runs if they do not exist. Empty by default.
    public var newFiles: [String] = []
    /// Folders whose files a command may read and execute, such as its own, for a script. Empty by default.
    public var folders: [String] = []
    /// The most memory that its process may use, in bytes. The default is 2 GiB.
    public var memoryLimit: Int
    /// The most memory that its process may share with this one for pictures, in bytes. The default is 512 MiB.
    public var segmentLimit: Int
    /// The layers of the sandbox that the user disabled: `landlock`, `seccomp`, `limits`. Empty by default.
    public var withoutLayers: Set<String>
    /// The path of `inlet-plugin-host`. The default, nil, is the one in the folder of the running program.
    public var hostPath: String?

    public init(
        name: String, code: Code, permissions: PluginPermissions = PluginPermissions(),
        memoryLimit: Int = 2 << 30, segmentLimit: Int = 512 << 20, withoutLayers: Set<String> = [],
        hostPath: String? = nil
    ) {
        self.name = name
        self.code = code
        self.permissions = permissions
        self.memoryLimit = memoryLimit
        self.segmentLimit = segmentLimit
        self.withoutLayers = withoutLayers
        self.hostPath = hostPath
    }

    /// Returns the path of `inlet-plugin-host`.
    func resolvedHostPath() throws(InletError) -> String {
        if let hostPath { return hostPath }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let capacity = bytes.count
        let count = unsafe bytes.withUnsafeMutableBytes {
            guard let start = unsafe $0.bindMemory(to: CChar.self).baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", start, capacity)
        }
        guard count > 0, count < capacity, let program = String(validating: bytes[..<count], as: UTF8.self),
            let slash = program.lastIndex(ofByte: "/")
        else {
            throw InletError(
                .notFound,
                "The folder of the running program is unknown, and so is inlet-plugin-host, which runs the plug-in "
                    + "\(name). Mount /proc, or state its path.",
                context: .init(operation: "readlink", nativeCode: errno))
        }
        return program[...slash] + "inlet-plugin-host"
    }

    /// Creates the missing files of ``newFiles``, with the permissions that the process's umask allows.
    ///
    /// - Throws: ``InletError/Code/notFound`` if the folder does not exist, ``InletError/Code/permissionDenied`` if no
    ///   file may be created there, ``InletError/Code/pluginRejected`` if the path is a symbolic link or not a regular
    ///   file.
    func makeNewFiles() throws(InletError) {
        for path in newFiles { try SystemFile.create(path) }
    }

    /// The arguments of `inlet-plugin-host`, without its own name.
    ///
    /// - Parameters:
    ///   - probes: whether the child only reports the plug-in's interfaces.
    ///   - exercise: the exercise that it runs instead of an instance; nil for none.
    func hostArguments(probes: Bool, exercise: String? = nil) -> [String] {
        var words: [String] = []
        if permissions.network { words.append("--network") }
        if permissions.devices { words.append("--devices") }
        for path in permissions.files { words += ["--file", path] }
        for path in newFiles { words += ["--new-file", path] }
        for path in folders { words += ["--folder", path] }
        words += ["--memory", String(max(0, memoryLimit))]
        for layer in withoutLayers.sorted() { words += ["--without", layer] }
        if probes { words.append("--probe") }
        if let exercise { words += ["--exercise", exercise] }
        switch code {
        case .library(let path): words += ["--library", path]
        case .command(let command): words += ["--command"] + command
        }
        return words
    }

    /// Name of the child in messages.
    var noun: String { "plug-in \(name)" }
}
