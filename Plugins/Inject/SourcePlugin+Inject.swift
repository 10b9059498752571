public import InletCore

extension SourcePlugin {
    /// The plug-in for `inject:NAME`: the items that the application pushes into the injector with that name.
    ///
    /// - Parameter directory: the injectors. Injectors added later to another copy of the directory are not found.
    public static func inject(_ directory: InjectorDirectory) -> SourcePlugin {
        SourcePlugin(
            PluginInfo(
                name: "InjectSource", schemes: ["inject"],
                summary: "Pictures or packets that the application pushes.",
                usage: "inject:NAME; NAME is that of an injector of the application",
                options: [Options.decoder.description],
                examples: directory.names.prefix(3).map { "inject:\($0)" })
        ) { uri, values in
            guard let injector = directory[uri.rest] else { throw unknown(uri.rest, in: directory.names) }
            return InjectedSourceConfiguration(injector, name: uri.rest, decoder: values[Options.decoder])
        }
    }

    private enum Options {
        static let decoder = PluginOption<String?>(
            "decoder", default: nil, "The decoder to try first, for packets; 'inlet plugins' lists them")
    }

    private static func unknown(_ name: String, in names: [String]) -> InletError {
        var message = "There is no injector '\(name)'."
        if let nearest = Spelling.nearest(to: name, among: names) { message += " Did you mean '\(nearest)'?" }
        message +=
            names.isEmpty
            ? " The application has added none to its InjectorDirectory."
            : " The injectors are \(names.joined(separator: ", "))."
        return InletError(.notFound, message)
    }
}
