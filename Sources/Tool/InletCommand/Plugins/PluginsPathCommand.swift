import ArgumentParser
import Inlet

/// Prints the folders that are searched for plug-ins.
struct PluginsPathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Prints the folders that are searched for plug-ins, in order, whether or not they exist.",
        discussion: """
            The folders of INLET_PLUGIN_PATH, separated by colons, come first. A folder that users other than root \
            and you can write to is not searched.
            """)

    @Flag(help: "Print one JSON array instead of text.")
    var json = false

    func run() throws {
        let folders = PluginDiscovery().searchedFolders()
        if json { return print(try PluginsCommand.json(folders.map(Listing.init))) }
        for folder in folders {
            switch folder.state {
            case .searched: print(folder.path)
            case .absent: print("\(folder.path)  (does not exist)")
            case .refused(let reason): print("\(folder.path)  (not searched: \(reason))")
            }
        }
    }

    /// A folder in the JSON output.
    struct Listing: Encodable {
        let path: String
        let state: String
        let reason: String?

        init(_ folder: PluginFolder) {
            path = folder.path
            switch folder.state {
            case .searched: (state, reason) = ("searched", nil)
            case .absent: (state, reason) = ("absent", nil)
            case .refused(let words): (state, reason) = ("refused", words)
            }
        }
    }
}
