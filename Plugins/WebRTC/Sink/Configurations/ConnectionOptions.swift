import InletCore
import InletRTC
import InletSystem
import WebRTCEngine

/// The options for bit rates, their controller and the connection, and the file that sets these and more.
///
/// Options in the URI override the file.
struct ConnectionOptions: Sendable {
    static let config = PluginOption.file(
        "config", "A JSON file with bit rates, their controller, the time-out and servers; options override it")
    let bitrate: PluginOption<Int>
    let rate: PluginOption<RateControl>
    let timeout: PluginOption<Duration>

    /// - Parameter meaning: the description of the time-out.
    init(maximum: Int, control: RateControl, timeout defaultTimeout: Duration, _ meaning: String) {
        bitrate = PluginOption(
            "bitrate", default: maximum, in: 50_000...100_000_000,
            "The initial and maximum bit rate; the actual one adapts to the path",
            unit: "bits a second")
        rate = PluginOption("rate", default: control, "The controller of the bit rate")
        timeout = PluginOption(
            "connect-timeout", default: defaultTimeout, in: .milliseconds(10) ... .seconds(3600), meaning)
    }

    var descriptions: [PluginOptionDescription] {
        [Self.config.description, bitrate.description, rate.description, timeout.description]
    }

    /// Returns the rates, the controller and the time-out from the options, with those of the file as defaults,
    /// and the servers.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with the file and the key, and the errors of reading the
    ///   file.
    func read(_ values: PluginOptionValues) throws(InletError) -> (RTCConfiguration, ICEServers) {
        guard let path = values[Self.config] else {
            var configuration = RTCConfiguration()
            override(&configuration, by: values, isComplete: true)
            try configuration.validate()
            return (configuration, try ICEOptions.servers(values))
        }
        let bytes = try RegularFile.read(
            path, most: RTCConfiguration.longest, content: "a configuration", advice: "config= needs a JSON file.")
        var configuration = try RTCConfiguration.parse(bytes, file: path)
        override(&configuration, by: values, isComplete: false)
        let servers = try servers(values, of: configuration)
        // All servers, including those in the URI, count in the check for a relay. If the file requires a relay,
        // the error names the file.
        configuration.iceServers = servers.fixed
        configuration.isRelayOnly =
            servers.isRelayOnly && !values.isGiven(ICEOptions.relayOnly) && servers.shared.isEmpty
        try configuration.validate(file: path)
        try servers.validate()
        return (configuration, servers)
    }

    /// - Parameter isComplete: whether options that are not set count with their defaults.
    private func override(
        _ configuration: inout RTCConfiguration, by values: PluginOptionValues, isComplete: Bool
    ) {
        if isComplete || values.isGiven(rate) { configuration.rateControl = values[rate] }
        if isComplete || values.isGiven(timeout) { configuration.connectionTimeout = values[timeout] }
        if isComplete || values.isGiven(bitrate) {
            let most = values[bitrate]
            (configuration.initialBitrate, configuration.maxBitrate) = (most, most)
            configuration.minBitrate = configuration.minBitrate.map { min($0, most) }
        }
    }

    /// Returns the servers. Those in the URI replace the file's servers of the same kind.
    private func servers(
        _ values: PluginOptionValues, of configuration: RTCConfiguration
    ) throws(InletError) -> ICEServers {
        var servers = try ICEServers(
            stun: values[ICEOptions.stun], turn: values[ICEOptions.turn], user: values[ICEOptions.user],
            password: values[ICEOptions.password], secret: values[ICEOptions.secret])
        (servers.tls.authorities, servers.tls.isVerified) = (
            values[ICEOptions.authorities], values[ICEOptions.verify]
        )
        if !values.isGiven(ICEOptions.stun) {
            servers.fixed.insert(contentsOf: configuration.iceServers.filter { $0.scheme == .stun }, at: 0)
        }
        if !values.isGiven(ICEOptions.turn) {
            servers.fixed += configuration.iceServers.filter { $0.scheme != .stun }
        }
        servers.isRelayOnly =
            values.isGiven(ICEOptions.relayOnly) ? values[ICEOptions.relayOnly] : configuration.isRelayOnly
        return servers
    }
}

extension PluginOptionValues {
    /// Returns whether the URI sets the option.
    fileprivate func isGiven<Value>(_ option: PluginOption<Value>) -> Bool { text(of: option.description) != nil }
}
