import Glibc
import InletCore
import InletPluginLoader

/// A program that replaces `inlet-plugin-host` and speaks the protocol according to a scenario of `child.py`.
final class ScriptedChild: Sendable {
    /// The path of the program.
    let path: String

    /// Writes the program to a separate folder.
    init(_ scenario: String) throws {
        var name = Array("/tmp/inlet-plugin-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw Failure(errno: errno) }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/child"
        var script = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        script += "/child.py"
        let text = "#!/bin/sh\nexec python3 -ISB '\(script)' '\(scenario)' \"$@\"\n"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
        guard file >= 0 else { throw Failure(errno: errno) }
        defer { close(file) }
        guard unsafe write(file, text, text.utf8.count) == text.utf8.count else { throw Failure(errno: errno) }
    }

    deinit {
        unsafe unlink(path)
        unsafe rmdir(path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"))
    }

    /// The program could not be written.
    struct Failure: Error {
        let errno: Int32
    }

    /// Returns a plug-in that this child runs.
    func program(segmentLimit: Int = 64 << 20) -> PluginProgram {
        PluginProgram(name: "scripted", code: .library("/none.so"), segmentLimit: segmentLimit, hostPath: path)
    }

    /// Returns a source of the plug-in.
    func configuration(
        _ options: [(name: String, value: String)] = [], segmentLimit: Int = 64 << 20
    ) -> PluginSourceConfiguration {
        PluginSourceConfiguration(
            program: program(segmentLimit: segmentLimit), scheme: "scripted", address: "one", options: options,
            redactedURI: "scripted:one")
    }
}
