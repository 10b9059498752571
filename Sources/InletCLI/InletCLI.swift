import InletCommand

/// The program `inlet`: the command with the plug-ins that Inlet comes with, and those that are installed.
@main
enum InletCLI {
    static func main() async { await InletTool.main() }
}
