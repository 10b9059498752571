/// A manifest that is not used, as an earlier folder has one of the same name.
public struct ShadowedPlugin: Sendable, Hashable {
    /// The name of both.
    public let name: String
    /// The path of the manifest that is not used.
    public let file: String
    /// The path of the manifest that is used instead.
    public let usedFile: String
}
