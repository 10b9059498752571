import CInletPlugin
import InletCore
import InletPluginIPC

// Unsafe: fills in the host's error struct.
/// The result of a table's function.
enum EntryResult {
    /// Runs a function, and fills in the host's error if it fails.
    static func of(
        _ error: UnsafeMutablePointer<inlet_error>?, _ body: () throws(InletError) -> Int
    ) -> inlet_result {
        do throws(InletError) {
            return inlet_result(try body())
        } catch let failure {
            if let error = unsafe error {
                unsafe error.pointee.native_code = failure.context.nativeCode ?? 0
                unsafe error.pointee.retry_after = max(0, failure.retryAfter?.wholeNanoseconds ?? 0)
                unsafe FixedText.write(failure.message, to: &error.pointee.message)
            }
            return ResultCode.result(of: failure.code)
        }
    }
}
