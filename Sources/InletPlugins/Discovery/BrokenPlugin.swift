public import InletCore

/// A plug-in that was found and cannot be used.
public struct BrokenPlugin: Sendable {
    /// Its name, as its manifest's file is called.
    public let name: String
    /// The path of its manifest.
    public let file: String
    /// Why it cannot be used, and what to do.
    public let reason: InletError

    /// The error for one who asks for the plug-in by its name or scheme: the reason, after the name and the manifest.
    public var error: InletError {
        // What is wrong with a manifest begins with its path already.
        guard !reason.message.containsBytes(file) else { return reason }
        var error = InletError(
            reason.code, "The plug-in \(name) (\(file)) cannot be used. \(reason.message)", cause: reason.cause,
            context: reason.context)
        error.retryAfter = reason.retryAfter
        return error
    }
}
