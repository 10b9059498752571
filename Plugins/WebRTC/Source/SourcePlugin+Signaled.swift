package import InletCore
package import InletRTC

extension SourcePlugin {
    /// Returns the plug-in for a signaling channel whose peer sends a track.
    ///
    /// - Parameters:
    ///   - info: the plug-in's description, with the options of the channel. The options of tracks are added.
    ///   - makeChannel: reads the options of the channel and returns its factory.
    package static func signaled(
        _ info: PluginInfo,
        makeChannel:
            @escaping @Sendable (PluginURI, PluginOptionValues) throws ->
            @Sendable () throws(InletError) -> any SignalingChannel
    ) -> SourcePlugin {
        let options = info.options + TrackOptions.descriptions
        return SourcePlugin(
            PluginInfo(
                name: info.name, schemes: info.schemes, summary: info.summary, usage: info.usage, options: options,
                examples: info.examples)
        ) { uri, values in
            var configuration = RemoteTrackConfiguration(makeChannel: try makeChannel(uri, values))
            configuration.name = uri.redacted(declared: options)
            configuration.role = .offering
            configuration.track = try TrackOptions.settings(values)
            try configuration.track.validate()
            return configuration
        }
    }
}
