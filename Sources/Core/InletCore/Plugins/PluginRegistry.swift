/// The sources and sinks that an application knows by name.
///
/// A value: the application makes a registry, adds the plug-ins that it needs, and passes it on. No global registry
/// exists.
public struct PluginRegistry: Sendable {
    private var sourcePlugins: [SourcePlugin] = []
    private var sinkPlugins: [SinkPlugin] = []
    private var decoderPlugins: [DecoderPlugin] = []
    private var filterPlugins: [FilterPlugin] = []
    /// The files and environment variables of this machine that options of URIs may read, such as `password-file=PATH`.
    /// The default is ``LocalAccess/denied``: a URI may come from anyone.
    public var localAccess: LocalAccess
    /// The finder for schemes that no registered plug-in has. The default, nil, means that such a scheme is an error.
    public var finder: (any PluginFinder)?

    /// Makes an empty registry.
    public init(localAccess: LocalAccess = .denied) { self.localAccess = localAccess }

    /// Every source, in the order of registration.
    public var sources: [SourcePlugin] { sourcePlugins }
    /// Every sink, in the order of registration.
    public var sinks: [SinkPlugin] { sinkPlugins }

    /// Every decoder, in the order of registration.
    public var decoders: [DecoderPlugin] { decoderPlugins }

    /// Every plug-in that filters pictures, in the order of registration.
    public var filters: [FilterPlugin] { filterPlugins }

    /// Adds a plug-in that filters pictures. It replaces one that was added earlier under the same name.
    public mutating func register(_ plugin: FilterPlugin) {
        filterPlugins.removeAll { $0.name == plugin.name }
        filterPlugins.append(plugin)
    }

    /// Adds a decoder. It replaces one that was added earlier under the same name.
    public mutating func register(_ plugin: DecoderPlugin) {
        decoderPlugins.removeAll { $0.name == plugin.name }
        decoderPlugins.append(plugin)
    }

    /// Adds a source. It replaces one that was added earlier for the same scheme.
    public mutating func register(_ plugin: SourcePlugin) { sourcePlugins.append(plugin) }

    /// Adds a sink. It replaces one that was added earlier for the same scheme.
    public mutating func register(_ plugin: SinkPlugin) { sinkPlugins.append(plugin) }

    /// Returns the configuration of the source that `uri` names.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if no plug-in has the scheme or an option is wrong; the error
    ///   with which reading a secret for an option failed.
    public func source(_ uri: String) throws -> any FrameSourceConfiguration {
        let uri = try PluginURI(uri)
        guard
            let plugin = try sourcePlugins.last(where: { $0.info.schemes.contains(uri.scheme) })
                ?? found(uri, { finder throws(InletError) in try finder.source(scheme: uri.scheme) })
        else {
            throw unknownScheme(
                uri, kind: "source", known: sourcePlugins.map(\.info), other: sinkPlugins.map(\.info),
                found: finder?.sourceSchemes() ?? [], foundOther: finder?.sinkSchemes() ?? [])
        }
        let made = try configuration(uri, plugin.info, plugin.makeConfiguration)
        guard var decoding = made as? any DecodingConfiguration, !decoderPlugins.isEmpty else { return made }
        if let name = decoding.decoder, !decoderPlugins.contains(where: { $0.name == name }) {
            throw unknownDecoder(name).about(uri.redacted(declared: plugin.info.options(of: uri.scheme)))
        }
        decoding.decoders = decoderPlugins
        return decoding
    }

    private func unknownDecoder(_ name: String) -> InletError {
        let known = decoderPlugins.map(\.name)
        let hint = Spelling.nearest(to: name, among: known).map { " Did you mean '\($0)'?" } ?? ""
        return InletError(
            .invalidConfiguration,
            "There is no decoder '\(name)'.\(hint) Known are \(known.sorted().joined(separator: " ")).")
    }

    /// Returns the configuration of the sink that `uri` names.
    ///
    /// - Throws: as ``source(_:)``.
    public func sink(_ uri: String) throws -> any FrameSinkConfiguration {
        let uri = try PluginURI(uri)
        guard
            let plugin = try sinkPlugins.last(where: { $0.info.schemes.contains(uri.scheme) })
                ?? found(uri, { finder throws(InletError) in try finder.sink(scheme: uri.scheme) })
        else {
            throw unknownScheme(
                uri, kind: "sink", known: sinkPlugins.map(\.info), other: sourcePlugins.map(\.info),
                found: finder?.sinkSchemes() ?? [], foundOther: finder?.sourceSchemes() ?? [])
        }
        return try configuration(uri, plugin.info, plugin.makeConfiguration)
    }

    private func configuration<Configuration>(
        _ uri: PluginURI, _ info: PluginInfo, _ make: (PluginURI, PluginOptionValues) throws -> Configuration
    ) throws -> Configuration {
        let values = try PluginOptionValues(
            uri, declared: info.options, allowsOthers: info.takesOtherOptions, access: localAccess)
        do {
            return try make(uri, values)
        } catch let error as InletError {
            throw error.about(uri.redacted(declared: info.options(of: uri.scheme)))
        }
    }

    /// Asks the finder, unless the scheme belongs to a registered plug-in of either kind.
    private func found<Plugin>(
        _ uri: PluginURI, _ find: (any PluginFinder) throws(InletError) -> Plugin?
    ) throws(InletError) -> Plugin? {
        guard let finder, !schemes.contains(uri.scheme) else { return nil }
        do throws(InletError) {
            return try find(finder)
        } catch {
            throw error.about(uri.redacted)
        }
    }

    /// The schemes of all registered sources and sinks. A ``finder`` is never asked for them.
    public var schemes: Set<String> {
        Set(sourcePlugins.flatMap(\.info.schemes) + sinkPlugins.flatMap(\.info.schemes))
    }

    private func unknownScheme(
        _ uri: PluginURI, kind: String, known: [PluginInfo], other: [PluginInfo], found: [String], foundOther: [String]
    ) -> InletError {
        let schemes = known.flatMap(\.schemes) + found
        var message = "There is no \(kind) '\(uri.scheme):'."
        if kind == "sink", uri.scheme == "file", !uri.text.lowercasedASCII.hasBytePrefix("file:") {
            // A path without a scheme is a source to read; writing requires a scheme.
            message = "A path without a scheme is not a sink."
            let end = uri.rest.split(atByte: ".", keepsEmpty: false).last?.lowercasedASCII ?? ""
            if let nearest = Spelling.nearest(to: end, among: schemes) {
                message += " Did you mean '\(nearest):\(uri.rest)'?"
            }
        } else if other.contains(where: { $0.schemes.contains(uri.scheme) }) || foundOther.contains(uri.scheme) {
            message = "'\(uri.scheme):' is not a \(kind)."
        } else if let nearest = Spelling.nearest(to: uri.scheme, among: schemes) {
            message += " Did you mean '\(nearest):'?"
        }
        message += " Known are \(Set(schemes).sorted().map { "\($0):" }.joined(separator: " "))"
        if kind == "source" {
            message += "; a file whose name has a colon is written file:NAME."
        } else {
            message += "."
        }
        return InletError(.invalidConfiguration, message, context: .init(subject: uri.redacted))
    }
}
