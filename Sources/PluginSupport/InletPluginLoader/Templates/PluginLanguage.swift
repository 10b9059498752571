/// A language in which ``PluginTemplate`` generates a plug-in.
public enum PluginLanguage: String, Sendable, Hashable, CaseIterable {
    /// C11.
    case c
    /// C++17.
    case cpp
    /// Swift 6.3 with `InletPluginSDK`.
    case swift
    /// Python 3.11.
    case python
}
