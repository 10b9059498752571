/// The version of Inlet. Nothing else states it.
package enum InletVersion {
    /// The version by Semantic Versioning; with `-dev` during development, as long as CHANGELOG.md begins with
    /// unreleased changes.
    package static let current = "0.1.0-dev"
}
