import InletCore
import InletPrograms
import InletSystem

/// Runs a program that prints credentials.
struct CredentialProgram: Sendable {
    /// The time that the program may take. The default is a minute, as in AWS's SDK for Go.
    var limit = Duration.seconds(60)
    /// The maximum number of bytes of its output.
    static let longestOutput = 65_536

    /// Returns the standard output of a program. It is killed with the processes that it has started if it takes too
    /// long. Blocks only a separate thread.
    ///
    /// - Parameters:
    ///   - words: the program, found through `PATH`, and its arguments.
    ///   - name: its name for errors, which quote only the last lines of its standard error.
    /// - Throws: the error of the start, ``InletError/Code/timedOut``, ``InletError/Code/malformedData`` for too much
    ///   output, and ``InletError/Code/serverUnavailable`` if the program fails: a later run may succeed.
    func output(of words: [String], name: String) async throws(InletError) -> String {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<String, InletError>, Never>) in
            do throws(InletError) {
                try SystemThread.start(named: "inlet-aws") {
                    continuation.resume(returning: Result { () throws(InletError) in try run(words, name) })
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    private func run(_ words: [String], _ name: String) throws(InletError) -> String {
        let child: ChildProcess
        do throws(InletError) {
            child = try ChildProcess(words, keepingOutputUpTo: Self.longestOutput)
        } catch {
            var error = error
            error.message = "Cannot run the \(name). \(error.message)"
            throw error
        }
        child.closeInput()
        let exit = child.wait(for: limit)
        guard let output = child.output else {
            throw InletError(.malformedData, "The output of the \(name) is longer than \(Self.longestOutput) bytes.")
        }
        let failure: (code: InletError.Code, text: String)
        switch exit {
        case .status(0), .unknown: return String(decoding: output, as: UTF8.self)
        case .status(let status): failure = (.serverUnavailable, "failed with exit status \(status)")
        case .signal(let signal): failure = (.serverUnavailable, "was terminated by signal \(signal)")
        case nil: failure = (.timedOut, "was killed, because it took longer than \(limit.optionText)")
        }
        let last =
            child.tail.text.map { " Its standard error ends with '\($0)'." }
            ?? " Run its command in a terminal to see why."
        throw InletError(
            failure.code, "The \(name) \(failure.text).\(last)", context: .init(operation: "waitpid"))
    }
}
