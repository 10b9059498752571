public import InletCore

/// A plug-in found on the machine, with a valid manifest and files that only trusted users can change.
public struct DiscoveredPlugin: Sendable, Hashable {
    /// The content of its manifest.
    public let manifest: PluginManifest
    /// The path of its manifest, with all links followed.
    public let file: String
    /// The path of its manifest as it was found.
    let place: String
    /// The program to run, and its permissions.
    public let program: PluginProgram
    /// Whether it is loaded into this process, at the user's request.
    public let isInProcess: Bool
    /// The manifest and the code files, as they were when they were checked.
    let identities: [FileIdentity]

    /// The code to run, for people: the path of a library, or a program and its arguments.
    public var codeWords: [String] {
        switch program.code {
        case .library(let path): [path]
        case .command(let words): words
        }
    }

    /// The paths of its code.
    public var codeFiles: [String] { identities.dropFirst().map(\.path) }

    /// The interfaces that the plug-in must implement for the endpoints of its manifest, as the ids of
    /// `inlet_plugin.h`.
    var neededInterfaces: [String] {
        (manifest.sources.isEmpty ? [] : ["inlet.source/1"]) + (manifest.sinks.isEmpty ? [] : ["inlet.sink/1"])
    }

    /// Its sources, for a registry.
    public var sourcePlugins: [SourcePlugin] { sourcePlugins(updatedBy: nil) }

    /// Its sinks, for a registry.
    public var sinkPlugins: [SinkPlugin] {
        manifest.sinks.map { endpoint in
            let info = endpoint.info(name: manifest.name, summary: manifest.summary)
            return SinkPlugin(info) { uri, values in
                let given = endpoint.options.given(in: values, schemes: endpoint.schemes)
                let (program, options) = try arguments(uri, given, endpoint)
                let sink = PluginSinkConfiguration(
                    program: program, isInProcess: isInProcess, scheme: uri.scheme, address: uri.rest,
                    options: options, redactedURI: uri.redacted(declared: info.options(of: uri.scheme)))
                return endpoint.takesPackets ? PluginPacketSinkConfiguration(sink) : sink
            }
        }
    }

    /// The most bytes of an address and all options together; they are one message to the plug-in.
    static let longestArguments = 65_536

    /// Returns every declared option with its value in canonical form (the default if the URI gives none, and no text
    /// without a default), and the program, which may use the files that the user names in options.
    func arguments(
        _ uri: PluginURI, _ given: [String: String], _ endpoint: PluginEndpoint
    ) throws(InletError) -> (PluginProgram, [(name: String, value: String)]) {
        guard !uri.rest.utf8.contains(0) else {
            throw InletError(.invalidConfiguration, "The address holds a zero byte (%00). Leave it out.")
        }
        var program = program
        var options: [(name: String, value: String)] = []
        for option in endpoint.options {
            var value = given[option.name].flatMap(option.canonical) ?? option.defaultValue ?? ""
            if option.type == .path, !value.isEmpty {
                value = try Self.absolute(value, option: option.name)
                if option.createsFile {
                    program.newFiles.append(value)
                } else {
                    program.permissions.files.append(value)
                }
            }
            options.append((option.name, value))
        }
        let length = options.reduce(uri.rest.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard length <= Self.longestArguments else {
            throw InletError(
                .invalidConfiguration,
                "The address and its options are too long together; they may have \(Self.longestArguments) bytes.")
        }
        return (program, options)
    }

    /// Returns the absolute path for a path given by the user: the plug-in has another working directory.
    private static func absolute(_ path: String, option: String) throws(InletError) -> String {
        if path.hasBytePrefix("/") { return path }
        guard let folder = SystemFile.workingFolder else {
            throw InletError(
                .notFound, "The working directory is gone, so that \(option) cannot be relative. Give the whole path.")
        }
        return folder.hasByteSuffix("/") ? folder + path : "\(folder)/\(path)"
    }
}

extension [PluginManifestOption] {
    /// Returns the texts that a URI gives, by the options' names.
    func given(in values: PluginOptionValues, schemes: [String]) -> [String: String] {
        var texts: [String: String] = [:]
        for option in self { texts[option.name] = values.text(of: option.description(schemes: schemes)) }
        return texts
    }
}
