package import CInletPlugin
package import InletCore

/// The codes of ``InletError`` and the results of `inlet_plugin.h`, in one table.
package enum ResultCode {
    /// Each pair has the same meaning. If several have one code, or one result, the first is used.
    private static let pairs: [(result: Int, code: InletError.Code)] = [
        (INLET_ERROR_INVALID_CONFIGURATION, .invalidConfiguration),
        (INLET_ERROR_NOT_FOUND, .notFound),
        (INLET_ERROR_PERMISSION_DENIED, .permissionDenied),
        (INLET_ERROR_AUTHENTICATION_FAILED, .authenticationFailed),
        (INLET_ERROR_BUSY, .busy),
        (INLET_ERROR_UNSUPPORTED, .unsupported),
        (INLET_ERROR_NO_BANDWIDTH, .noBandwidth),
        (INLET_ERROR_CONNECTION_REFUSED, .connectionRefused),
        (INLET_ERROR_SERVER_UNAVAILABLE, .serverUnavailable),
        (INLET_ERROR_DISCONNECTED, .disconnected),
        (INLET_ERROR_TIMED_OUT, .timedOut),
        (INLET_ERROR_INPUT_OUTPUT, .inputOutput),
        (INLET_ERROR_MALFORMED_DATA, .malformedData),
        (INLET_ERROR_RESOURCE_EXHAUSTED, .resourceExhausted),
        (INLET_ERROR_PLUGIN, .pluginRejected),
        // A mistake in a plug-in is not a mistake in Inlet.
        (INLET_ERROR_INTERNAL, .pluginRejected),
        (INLET_ERROR_INTERNAL, .internal),
        (INLET_ERROR_CANCELLED, .cancelled),
        (INLET_ERROR_PERMISSION_DENIED, .declined),
        (INLET_ERROR_INVALID_CONFIGURATION, .addressRefused),
        (INLET_ERROR_NOT_FOUND, .hostNotFound),
        (INLET_ERROR_INPUT_OUTPUT, .tlsFailed),
        (INLET_ERROR_DISCONNECTED, .sessionLost),
        (INLET_ERROR_DISCONNECTED, .formatChanged),
        (INLET_ERROR_DISCONNECTED, .streamEnded),
    ]

    /// Returns the code of a negative result; nil if `inlet_plugin.h` has no such result.
    package static func code(of result: inlet_result) -> InletError.Code? {
        pairs.first { $0.result == Int(result) }?.code
    }

    /// Returns the code with a name, if it has that result; nil otherwise. Several codes have the same result.
    package static func code(named name: String, of result: inlet_result) -> InletError.Code? {
        pairs.first { $0.result == Int(result) && $0.code.description.isSameBytes(as: name) }?.code
    }

    /// Returns the result for a code; the result for a mistake if the code is not in the table.
    package static func result(of code: InletError.Code) -> inlet_result {
        inlet_result(pairs.first { $0.code == code }?.result ?? Int(INLET_ERROR_INTERNAL))
    }
}
