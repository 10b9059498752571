/// A manifest that is not used, because an earlier folder has one of the same name.
public struct ShadowedPlugin: Sendable, Hashable {
    /// The name of both.
    public let name: String
    /// The path of the unused manifest.
    public let file: String
    /// The path of the manifest used instead.
    public let usedFile: String
}
