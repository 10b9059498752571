import InletCore

/// Selects the script of a ``ScriptedSource``.
struct ScriptedConfiguration: FrameSourceConfiguration {
    var script: String
    var count: Int
    var secret: String?

    var redactedURI: String { "scripted:\(script)" }

    func makeSource() -> any FrameSource { ScriptedSource(self) }
}

extension SourcePlugin {
    static let scripted = SourcePlugin(
        PluginInfo(
            name: "ScriptedSource", schemes: ["scripted"], summary: "Follows the script that its address names.",
            usage: "scripted:SCRIPT", options: [Options.count.description, Options.secret.description], examples: [])
    ) { uri, values in
        ScriptedConfiguration(script: uri.rest, count: values[Options.count], secret: values[Options.secret])
    }

    private enum Options {
        static let count = PluginOption("count", default: 7, in: 0...1000, "A number")
        static let secret = PluginOption.secret("secret", "A secret")
    }
}
