package import InletCore
package import InletRTC
import WebRTCEngine

extension SinkPlugin {
    /// Returns the plug-in for a signaling service whose peers get frames.
    ///
    /// - Parameters:
    ///   - info: the plug-in's description, with the options of the service. The WebRTC options are added.
    ///   - makeEncoder: returns the encoder, such as `FFmpegVideoEncoder`.
    ///   - makeService: reads the options of the service and returns its factory.
    package static func signaled(
        _ info: PluginInfo, makeEncoder: @escaping @Sendable () -> any VideoEncoder,
        makeService:
            @escaping @Sendable (PluginURI, PluginOptionValues) throws ->
            @Sendable () throws(InletError) -> any SignalingService
    ) -> SinkPlugin {
        let defaults = SignaledSinkConfiguration(name: "", makeEncoder: makeEncoder) { () throws(InletError) in
            throw InletError(.internal, "A default configuration has no service.")
        }
        let pictures = PictureOptions(largestSize: defaults.largestSize, threads: defaults.threads)
        let connection = ConnectionOptions(
            maximum: defaults.rates.maximum, control: defaults.rateControl, timeout: defaults.connectTimeout,
            "How long a session may take to connect")
        let options = info.options + pictures.descriptions + connection.descriptions + ICEOptions.descriptions
        return SinkPlugin(
            PluginInfo(
                name: info.name, schemes: info.schemes, summary: info.summary, usage: info.usage, options: options,
                examples: info.examples)
        ) { uri, values in
            var configuration = SignaledSinkConfiguration(
                name: uri.redacted(declared: options), makeEncoder: makeEncoder,
                makeService: try makeService(uri, values))
            configuration.largestSize = values[pictures.largest]
            configuration.frameRate = values[pictures.maximumRate]
            configuration.threads = values[pictures.threads]
            configuration.passesThrough = values[pictures.passThrough]
            configuration.trackName = pictures.trackName(values)
            let (settings, servers) = try connection.read(values)
            (configuration.rates, configuration.rateControl) = (settings.rates, settings.rateControl)
            configuration.connectTimeout = settings.connectionTimeout ?? configuration.connectTimeout
            configuration.ice = servers
            try configuration.validate()
            return configuration
        }
    }
}
