package import InletCore
package import InletPluginLoader

/// Verifies that a plug-in keeps the contract of `inlet_plugin.h`, and does what its manifest states.
///
/// All of its code runs in child processes, in the sandbox. Each of them is ended after half a minute.
package struct PluginVerifier: Sendable {
    /// The discovery of plug-ins. Its settings for running them in this process and for updates are ignored.
    package var discovery = PluginDiscovery()
    /// The URIs to open; if empty, those of the manifest: the bare scheme, or an example.
    package var uris: [String] = []
    /// The local files that ``uris`` may read. By default none, which always applies to URIs of the manifest.
    package var localAccess = LocalAccess.denied
    /// The checks to run. All by default.
    package var checks = Set(VerificationCheck.allCases)
    /// The decoders for sources of packets.
    package var decoders: [DecoderPlugin] = []

    package init() {}

    /// The time limit of a child process.
    static let limit = Duration.seconds(30)

    /// Runs the checks, one after the other. Blocks the calling thread for a long time.
    ///
    /// - Parameters:
    ///   - word: the path of a manifest or of a library next to its manifest, or the name of an installed plug-in.
    ///   - stop: ends it early.
    ///   - onFinding: called with each finding.
    /// - Throws: ``InletError/Code/notFound`` if there is no such plug-in, ``InletError/Code/cancelled``, or an error
    ///   of the machine, such as a missing layer of the sandbox. The plug-in's faults are findings.
    package func run(
        _ word: String, stop: VerificationStop, onFinding: @escaping (VerificationFinding) -> Void
    ) async throws -> VerificationReport {
        var verifier = self
        verifier.discovery.inProcess = []
        verifier.discovery.takesUpdates = false
        let examination = try verifier.discovery.examine(word)
        let run = VerificationRun(verifier, stop, onFinding)
        try await run.verify(examination)
        return VerificationReport(
            file: examination.file, name: examination.manifest?.name ?? "",
            version: examination.manifest?.version ?? "", findings: run.findings)
    }
}
