public import InletCore

/// A discovered plug-in that cannot be used.
public struct BrokenPlugin: Sendable {
    /// Its name, taken from its manifest's file name.
    public let name: String
    /// The path of its manifest.
    public let file: String
    /// The reason why it cannot be used, and what to do.
    public let reason: InletError

    /// The error for a request of the plug-in by its name or scheme: the reason, after the name and the manifest.
    public var error: InletError {
        // The description of an error in a manifest begins with the manifest's path already.
        guard !reason.message.containsBytes(file) else { return reason }
        var error = InletError(
            reason.code, "The plug-in \(name) (\(file)) cannot be used. \(reason.message)", cause: reason.cause,
            context: reason.context)
        error.retryAfter = reason.retryAfter
        return error
    }
}
