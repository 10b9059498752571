import CInletPlugin
import InletCore
import InletPluginIPC

/// The reason why a call has failed, as `inlet_wire_result` states it.
struct PluginFailure: Error {
    /// A negative value of `inlet_result`.
    var result: inlet_result
    /// A description of the failure and of the remedy.
    var message: String
    /// The errno or the code of a library; 0 without a code.
    var nativeCode: Int32 = 0
    /// The delay before the next attempt, in nanoseconds; 0 leaves the choice to Inlet.
    var retryAfter: Int64 = 0

    /// Makes a failure of the plug-in itself: it broke its contract, or cannot be loaded.
    init(_ message: String) {
        result = inlet_result(INLET_ERROR_PLUGIN)
        self.message = message
    }

    /// Makes a failure with another result.
    init(_ result: Int, _ message: String, nativeCode: Int32 = 0) {
        self.result = inlet_result(result)
        self.message = message
        self.nativeCode = nativeCode
    }

    /// Takes an error of loading a library.
    init(_ error: InletError) {
        self.init(error.message)
        nativeCode = error.context.nativeCode ?? 0
    }

    /// Takes the result and the error that a function of the plug-in returned and filled in.
    ///
    /// - Parameter function: the function's name.
    init(_ result: inlet_result, _ error: inlet_error, of function: String) {
        guard (Int32(INLET_ERROR_CANCELLED)..<0).contains(result) else {
            self.init(
                "The plug-in's \(function) returned \(result), which is not an inlet_result that it may return. "
                    + "Report this to its author.")
            return
        }
        // The array may lack its zero byte; text that is not UTF-8 is repaired rather than lost.
        let text = String(decoding: FixedText.bytes(error.message), as: UTF8.self)
        self.init(
            Int(result), text.isEmpty ? "The plug-in's \(function) failed with \(result) and gave no reason." : text,
            nativeCode: error.native_code)
        retryAfter = error.retry_after
    }

    /// The answer to Inlet.
    var answer: inlet_wire_result {
        var answer = inlet_wire_result()
        answer.type = UInt32(INLET_MESSAGE_RESULT)
        answer.result = result
        answer.native_code = nativeCode
        answer.retry_after = retryAfter
        FixedText.write(message, to: &answer.message)
        return answer
    }
}
