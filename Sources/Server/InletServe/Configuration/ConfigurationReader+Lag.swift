import InletCore

extension ConfigurationReader {
    /// Returns a source's URI with the option `maximum-lag` from the camera's keys or the defaults. An option in the
    /// URI itself takes precedence.
    ///
    /// - Parameters:
    ///   - own: the camera's own value. It is a problem if the source does not have the option.
    ///   - defaults: the value for all cameras. It is ignored for sources that do not have the option.
    func limitingLag(
        of uri: String, own: ConfigurationNode?, defaults: ConfigurationNode?, path: String,
        _ problems: inout [ConfigurationProblem]
    ) -> String {
        guard let node = own ?? defaults, let lag = node.scalar.flatMap(ScalarRule.duration),
            let options = try? PluginURI(uri).options,
            !options.contains(where: { $0.name.isSameBytes(as: "maximum-lag") })
        else { return uri }
        // A question mark without options after it is part of a password.
        let limited = uri + (options.isEmpty ? "?" : "&") + "maximum-lag=\(lag.optionText)"
        if (try? registry.source(limited)) != nil { return limited }
        // A URI that is invalid even without the option is reported elsewhere.
        if let own, (try? registry.source(uri)) != nil {
            check(own, path: ConfigurationShape.join(path, "maximum-lag"), &problems) {
                _ = try registry.source(limited)
            }
        }
        return uri
    }
}
