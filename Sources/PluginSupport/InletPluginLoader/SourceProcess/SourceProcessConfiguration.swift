package import InletCore

/// Any source in a separate process: a child of the same executable opens, reads and decodes it, so that a crash in a
/// driver or a decoder affects only this source.
///
/// The executable must call ``SourceServer/runIfAsked(_:)`` before anything else.
package struct SourceProcessConfiguration: FrameSourceConfiguration {
    /// The source's URI, including its secrets.
    package var uri: String
    package var redactedURI: String
    /// The name of the process in logs and errors.
    package var name: String
    /// The most private memory of the process, in bytes: exceeding it ends the process. The default, nil, is no limit.
    package var memoryLimit: Int?
    /// The path of the executable. The default, nil, is the running one.
    package var programPath: String?
    /// The processes of this configuration so far.
    package let figures = SourceProcessFigures()

    package init(
        _ uri: String, redactedURI: String, name: String, memoryLimit: Int? = nil, programPath: String? = nil
    ) {
        (self.uri, self.redactedURI, self.name) = (uri, redactedURI, name)
        (self.memoryLimit, self.programPath) = (memoryLimit, programPath)
    }

    /// Returns a source with this configuration. Nothing is started yet.
    package func makeSource() -> any FrameSource { ProcessSource(self) }

    /// Name of the child in messages.
    var noun: String { "process of \(name)" }

    /// The request for the child, in the form of one for a plug-in.
    var request: PluginSourceConfiguration {
        var options: [(name: String, value: String)] = []
        if let memoryLimit { options.append((SourceServer.memoryOption, String(memoryLimit))) }
        return PluginSourceConfiguration(
            program: PluginProgram(name: name, code: .command([])), scheme: "", address: uri, options: options,
            redactedURI: redactedURI)
    }
}
