public import InletCore

/// A plug-in that was found and cannot be used.
public struct BrokenPlugin: Sendable {
    /// Its name, as its manifest's file is called.
    public let name: String
    /// The path of its manifest.
    public let file: String
    /// Why it cannot be used, and what to do.
    public let reason: InletError
}
