import CInletPlugin
package import InletCore
import InletPluginIPC
import InletSystem
import Logging

/// The result of an exercise of `inlet_exercise.h`.
package struct ExerciseResult: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// The plug-in kept its contract. The text is a remark, or empty.
        case passed
        /// It broke its contract; the text is a sentence that describes how.
        case failed
        /// It exceeded a time limit, perhaps because of the machine.
        case late
        /// The exercise is not for this plug-in, or cannot be run here.
        case notApplicable
        /// Nothing could be opened; the code is the plug-in's, if it gave one.
        case notOpened(InletError.Code?)
    }

    package var outcome: Outcome
    package var text: String

    package init(_ outcome: Outcome, _ text: String) {
        self.outcome = outcome
        self.text = text
    }
}

extension PluginSourceConfiguration {
    /// Runs an exercise with the library of this source in a separate process.
    ///
    /// Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - name: one of those of `CInletExercise`, such as `items`.
    ///   - context: the environment, with its deadline and cancellation.
    /// - Throws: an error of the machine or of Inlet, such as a layer of the sandbox that it does not have. Faults of
    ///   the plug-in, including its end, are a result.
    package func exercise(_ name: String, _ context: SourceContext) throws(InletError) -> ExerciseResult {
        try program.exercise(
            name, kind: INLET_KIND_SOURCE, scheme: scheme, address: address, options: options, context)
    }
}

extension PluginSinkConfiguration {
    /// Runs an exercise with the library of this sink in a separate process.
    ///
    /// - Parameters: as those of a source.
    package func exercise(_ name: String, _ context: SourceContext) throws(InletError) -> ExerciseResult {
        try program.exercise(
            name, kind: INLET_KIND_SINK, scheme: scheme, address: address, options: options, context)
    }
}

extension PluginProgram {
    fileprivate func exercise(
        _ name: String, kind: Int, scheme: String, address: String, options: [(name: String, value: String)],
        _ context: SourceContext
    ) throws(InletError) -> ExerciseResult {
        let connection = try PluginConnection(to: self, exercise: name, logger: context.logger)
        defer { connection.close() }
        try connection.sendCreate(kind: kind, scheme: scheme, address: address, options: options)
        let answer: inlet_wire_result
        do throws(InletError) {
            answer = try connection.receiveResult(within: CallLimit(of: context), to: "verify") {
                _ throws(PluginLie) in
            }
        } catch {
            // The end of its process, or a message that it sent without the program that runs it.
            let isOwn = [.permissionDenied, .disconnected, .pluginRejected, .timedOut].contains(error.code)
            guard isOwn, !context.isCancelled else { throw error }
            // The process reports a function that hangs. Otherwise the device is slow, or the machine.
            if error.code == .timedOut {
                return ExerciseResult(.notApplicable, "It was given up, as it was not over in time on this machine.")
            }
            return ExerciseResult(.failed, error.message)
        }
        let text = FixedText.text(answer.message) ?? ""
        switch Int(answer.result) {
        case INLET_OK: return ExerciseResult(.passed, text)
        case INLET_ERROR_INTERNAL: return ExerciseResult(.failed, text)
        case INLET_ERROR_TIMED_OUT: return ExerciseResult(.late, text)
        case INLET_ERROR_UNSUPPORTED: return ExerciseResult(.notApplicable, text)
        case INLET_ERROR_NOT_FOUND:
            return ExerciseResult(.notOpened(ResultCode.code(of: answer.native_code)), text)
        default: throw connection.failure(answer, to: "verify", isCancelled: context.isCancelled)
        }
    }
}
