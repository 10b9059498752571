/// Which version of Inlet this is. Nothing else states it.
package enum InletVersion {
    /// By Semantic Versioning; with `-dev` while it is being worked on, as long as CHANGELOG.md begins with what is
    /// unreleased.
    package static let current = "0.1.0-dev"
}
