package import InletCore
package import InletPlugins

/// Verifies that a plug-in keeps the contract of `inlet_plugin.h`, and does what its manifest says.
///
/// All of its code runs in child processes, in the sandbox. Each of them is ended after half a minute.
package struct PluginVerifier: Sendable {
    /// How plug-ins are found. Which of them it runs in this process, and whether it takes updates, is ignored.
    package var discovery = PluginDiscovery()
    /// What is opened; empty for what the manifest has: the scheme alone, or an example.
    package var uris: [String] = []
    /// What ``uris`` may read of this machine. The default is nothing, which is always so for what the manifest has.
    package var localAccess = LocalAccess.denied
    /// The checks to run. All by default.
    package var checks = Set(VerificationCheck.allCases)
    /// The decoders for sources of packets.
    package var decoders: [DecoderPlugin] = []

    package init() {}

    /// How long a child process may take.
    static let limit = Duration.seconds(30)

    /// Runs the checks, one after the other. Blocks the calling thread for long.
    ///
    /// - Parameters:
    ///   - word: the path of a manifest or of a library beside its manifest, or the name of an installed plug-in.
    ///   - stop: ends it early.
    ///   - onFinding: is called with each finding.
    /// - Throws: ``InletError/Code/notFound`` if there is no such plug-in, ``InletError/Code/cancelled``, or an error
    ///   of the machine's, such as a layer of the sandbox that it does not have. What the plug-in does wrong is a
    ///   finding.
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
