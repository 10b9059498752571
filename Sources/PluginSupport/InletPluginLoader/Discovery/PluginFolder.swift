import InletCore

/// A folder in which plug-ins are searched for.
public struct PluginFolder: Sendable, Hashable {
    /// Whether the folder was searched.
    public enum State: Sendable, Hashable {
        /// It was searched.
        case searched
        /// It does not exist.
        case absent
        /// It was not searched, for the reason in a sentence.
        case refused(String)
    }

    /// The path as given.
    public let path: String
    /// Whether it was searched.
    public let state: State

    /// The variable of the environment that lists folders to search before the others, separated by colons.
    public static let variable = "INLET_PLUGIN_PATH"

    /// Returns the paths of the folders that are searched, in this order: those of `INLET_PLUGIN_PATH`,
    /// `~/.local/lib/inlet`, `/usr/local/lib/inlet`, `/usr/lib/inlet`.
    public static var standardPaths: [String] {
        paths(listed: SystemFile.variable(variable), home: SystemFile.variable("HOME"))
    }

    static func paths(listed: String?, home: String?) -> [String] {
        let first = (listed ?? "").split(atByte: ":", keepsEmpty: false).map { String($0) }
        let user = home.flatMap { $0.hasBytePrefix("/") ? ["\($0)/.local/lib/inlet"] : nil } ?? []
        return first + user + ["/usr/local/lib/inlet", "/usr/lib/inlet"]
    }
}
