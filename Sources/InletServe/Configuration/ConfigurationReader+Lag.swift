import InletCore

extension ConfigurationReader {
    /// Returns a source's URI with the option `maximum-lag` that the camera's keys or the defaults ask for. What the
    /// URI itself says stands.
    ///
    /// - Parameters:
    ///   - own: the camera's own value; a source without the option is a problem then.
    ///   - defaults: that of all cameras, which holds for the sources that have the option.
    func limitingLag(
        of uri: String, own: ConfigurationNode?, defaults: ConfigurationNode?, path: String,
        _ problems: inout [ConfigurationProblem]
    ) -> String {
        guard let node = own ?? defaults, let lag = node.scalar.flatMap(ScalarRule.duration),
            let options = try? PluginURI(uri).options,
            !options.contains(where: { $0.name.isSameBytes(as: "maximum-lag") })
        else { return uri }
        // A question mark without options is that of a password.
        let limited = uri + (options.isEmpty ? "?" : "&") + "maximum-lag=\(lag.optionText)"
        if (try? registry.source(limited)) != nil { return limited }
        // One that cannot be had without it either is told of elsewhere.
        if let own, (try? registry.source(uri)) != nil {
            check(own, path: ConfigurationShape.join(path, "maximum-lag"), &problems) {
                _ = try registry.source(limited)
            }
        }
        return uri
    }
}
