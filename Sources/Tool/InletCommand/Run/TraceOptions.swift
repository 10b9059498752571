import ArgumentParser
import Inlet

/// The option `--trace`, and the file that it names.
struct TraceOptions: ParsableArguments {
    @Option(
        name: .customLong("trace"),
        help: ArgumentHelp(
            "Write the times at which each frame passed each stage to FILE, as Chrome trace JSON for ui.perfetto.dev.",
            valueName: "file"), completion: .file(extensions: ["json"]))
    var path: String?

    /// Opens the trace file, if one was requested, and makes the capturer write to it.
    func start(for configuration: inout CapturerConfiguration) throws -> ChromeTraceWriter? {
        guard let path else { return nil }
        do throws(InletError) {
            let writer = try ChromeTraceWriter(path: path)
            configuration.tracer = writer
            return writer
        } catch {
            // A missing folder of the trace must not be reported as a missing input.
            guard error.code == .notFound else { throw error }
            Terminal.writeError("error: \(error)\n")
            throw ExitCode(ExitStatus.inputOutput.rawValue)
        }
    }

    /// Completes the file after the run.
    ///
    /// - Returns: the reason if it is incomplete, or nil.
    func finish(_ writer: ChromeTraceWriter?) async -> InletError? {
        guard let writer else { return nil }
        do throws(InletError) {
            try await writer.finish()
            return nil
        } catch {
            return error
        }
    }
}
