#if WebRTC
    public import InletCore
    import InletHTTP

    extension SourcePlugin {
        /// The plug-in for `whip:[HOST:PORT]`: a browser, a phone or OBS that publishes.
        public static let whip = SourcePlugin(
            PluginInfo(
                name: "WHIPSource", schemes: ["whip"],
                summary: "A page that makes a camera of a browser or phone, and an endpoint of WHIP.",
                usage: "whip:[HOST:PORT], by default \(defaults.host):\(defaults.port)",
                options: [token.description, origin.description, reachesOut.description] + TrackOptions.descriptions,
                examples: [
                    "whip:", "whip:127.0.0.1:9002?codec=vp8", "whip:0.0.0.0:8092?token-file=/run/secrets/studio",
                ])
        ) { uri, values in
            let place = try ListenAddress(uri.rest, scheme: "whip")
            var configuration = WHIPSourceConfiguration(
                host: place.host ?? defaults.host, port: place.port ?? defaults.port, token: values[token])
            configuration.origins = values[origin].map { [$0] } ?? []
            configuration.reachesOut = values[reachesOut]
            configuration.track = try TrackOptions.settings(values)
            try configuration.validate()
            return configuration
        }

        /// The plug-in for `whep+https://HOST/PATH`: the stream of a WHEP server.
        public static let whep = SourcePlugin(
            PluginInfo(
                name: "WHEPSource", schemes: ["whep+https", "whep+http"],
                summary: "What a media server or a page of Inlet shows by WebRTC.",
                usage: "whep+https://HOST/PATH; options that are not listed stay in the address",
                options: [bearer.description] + TrackOptions.descriptions,
                examples: [
                    "whep+https://media.example/live/whep?token-file=/run/secrets/media",
                    "whep+http://127.0.0.1:8091/whep?read-timeout=2s",
                ], takesOtherOptions: true)
        ) { uri, values in
            var configuration = WHEPSourceConfiguration(
                PluginURI.address("\(uri.scheme.dropFirst("whep+".count)):\(uri.rest)", values.others),
                token: values[bearer])
            configuration.track = try TrackOptions.settings(values)
            try configuration.validate()
            return configuration
        }

        private static let defaults = WHIPSourceConfiguration()
        private static let token = PluginOption.secret(
            "token", "What everyone must show; made where others reach the endpoint and none is given")
        private static let bearer = PluginOption.secret("token", "The bearer token")
        private static let origin = PluginOption<String?>(
            "origin", default: nil, "A site whose pages may publish, such as https://example.org, or *")
        private static let reachesOut = PluginOption(
            "reach-out", default: defaults.reachesOut,
            "At a loopback address, receive by all addresses of this machine: behind a proxy")
    }
#endif
