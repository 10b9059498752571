import InletCommand

/// The program `inlet`: the command with Inlet's own plug-ins and the installed ones.
@main
enum InletCLI {
    static func main() async { await InletTool.main() }
}
