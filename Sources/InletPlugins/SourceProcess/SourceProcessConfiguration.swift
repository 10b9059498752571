package import InletCore

/// Any source in a process of its own: a child of the same executable opens, reads and decodes it, so that a crash in a
/// driver or a decoder costs this source alone.
///
/// The executable must call ``SourceServer/runIfAsked(_:)`` first of all.
package struct SourceProcessConfiguration: FrameSourceConfiguration {
    /// The source's URI, with every secret in it.
    package var uri: String
    package var redactedURI: String
    /// What the process is called in logs and errors.
    package var name: String
    /// The most memory that the process may use for itself, in bytes: more ends it. The default, nil, is no limit.
    package var memoryLimit: Int?
    /// The path of the executable. The default, nil, is the one that runs.
    package var programPath: String?
    /// The processes of this configuration so far.
    package let figures = SourceProcessFigures()

    package init(
        _ uri: String, redactedURI: String, name: String, memoryLimit: Int? = nil, programPath: String? = nil
    ) {
        (self.uri, self.redactedURI, self.name) = (uri, redactedURI, name)
        (self.memoryLimit, self.programPath) = (memoryLimit, programPath)
    }

    /// Returns a source with this configuration. Starts nothing yet.
    package func makeSource() -> any FrameSource { ProcessSource(self) }

    /// Name of the child in messages.
    var noun: String { "process of \(name)" }

    /// What the child is asked for, as for the process of a plug-in.
    var request: PluginSourceConfiguration {
        var options: [(name: String, value: String)] = []
        if let memoryLimit { options.append((SourceServer.memoryOption, String(memoryLimit))) }
        return PluginSourceConfiguration(
            program: PluginProgram(name: name, code: .command([])), scheme: "", address: uri, options: options,
            redactedURI: redactedURI)
    }
}
