import CInletPlugin
import InletCore
import InletPluginIPC

/// The results of a plug-in's functions, in any process.
enum PluginCall {
    /// Makes the error for a call that failed.
    ///
    /// - Parameters:
    ///   - result: the function's result.
    ///   - error: the error that it filled in.
    ///   - name: the plug-in's name.
    ///   - noun: its name in messages. The default, nil, is that of a plug-in.
    ///   - operation: the name of the operation, such as `open`.
    ///   - isCancelled: whether the call was cancelled.
    /// - Returns: a ``PluginLie`` if the function may not return this result.
    static func error(
        _ result: inlet_result, _ error: inlet_error, of name: String, noun: String? = nil, _ operation: String,
        isCancelled: Bool
    ) -> Result<InletError, PluginLie> {
        guard result < 0 else {
            return .failure(PluginLie("had to \(operation), but answered with the result \(result)"))
        }
        guard let code = ResultCode.code(of: result) else {
            return .failure(PluginLie("failed to \(operation) with the unknown result \(result)"))
        }
        if code == .cancelled, !isCancelled {
            return .failure(PluginLie("failed to \(operation) because of a cancellation, but was not cancelled"))
        }
        guard let text = FixedText.text(error.message) else {
            return .failure(PluginLie("failed to \(operation) with a message that is not UTF-8"))
        }
        let noun = noun ?? "plug-in \(name)"
        let message = text.isEmpty ? "The \(noun) failed to \(operation) and gave no reason." : text
        var failure = InletError(
            code, Redaction.redact(message),
            context: .init(
                operation: "\(name): \(operation)", nativeCode: error.native_code == 0 ? nil : error.native_code))
        if error.retry_after > 0 { failure.retryAfter = .nanoseconds(error.retry_after) }
        return .success(failure)
    }

    /// Returns the user's request, in memory that a plug-in in this process may read.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a text contains a zero byte.
    static func memory(
        of name: String, scheme: String, address: String, options: [(name: String, value: String)]
    ) throws(InletError) -> ConfigurationMemory {
        let texts = ConfigurationMemory.texts(scheme: scheme, address: address, options: options)
        guard let memory = ConfigurationMemory(texts, optionCount: UInt32(clamping: options.count)) else {
            throw InletError(
                .invalidConfiguration, "The options of the plug-in \(name) hold a zero byte. Leave it out.")
        }
        return memory
    }

    /// Makes the error for a violation of the contract by a plug-in.
    static func rejection(_ lie: PluginLie, of name: String) -> InletError {
        InletError(.pluginRejected, "The plug-in \(name) \(lie.text). Report this to its author.")
    }
}
