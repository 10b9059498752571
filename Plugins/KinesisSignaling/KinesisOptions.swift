#if WebRTC
    package import InletCore

    /// The options of `kvs:` as a source and as a sink.
    package struct KinesisOptions: Sendable {
        private let region = PluginOption<String?>(
            "region", default: nil, "The region, if neither the ARN nor AWS_REGION has it")
        private let profile = PluginOption<String?>(
            "profile", default: nil, "The profile of AWS's shared files, instead of AWS_PROFILE")
        private let endpoint = PluginOption<String?>(
            "endpoint", default: nil, "The service's address, instead of AWS_ENDPOINT_URL_KINESIS_VIDEO")
        private let creates = PluginOption(
            "create", default: false, "Make a channel of this name if there is none")
        private let authorities = PluginOption<String?>(
            "tls-ca", default: nil, "A PEM file of authorities for the WebSocket, instead of the system's")
        private let clientID = PluginOption<String?>(
            "client-id", default: nil, "The viewer's name, which no other viewer has; made where none is given")

        package init() {}

        /// The options of a sink, which is the master.
        package var ofMaster: [PluginOptionDescription] {
            [
                region.description, profile.description, endpoint.description, creates.description,
                authorities.description,
            ]
        }

        /// The options of a source, which is a viewer.
        package var ofViewer: [PluginOptionDescription] {
            [
                region.description, profile.description, endpoint.description, authorities.description,
                clientID.description,
            ]
        }

        /// Returns the configuration of a master.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration``.
        package func master(_ uri: PluginURI, _ values: PluginOptionValues) throws(InletError) -> KinesisConfiguration {
            var configuration = shared(uri, values)
            configuration.creates = values[creates]
            try configuration.validate()
            return configuration
        }

        /// Returns the configuration of a viewer.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration``.
        package func viewer(_ uri: PluginURI, _ values: PluginOptionValues) throws(InletError) -> KinesisConfiguration {
            var configuration = shared(uri, values)
            configuration.role = .viewer(clientID: values[clientID] ?? "inlet-\(UInt64.random(in: 0 ... .max))")
            try configuration.validate()
            return configuration
        }

        private func shared(_ uri: PluginURI, _ values: PluginOptionValues) -> KinesisConfiguration {
            var configuration = KinesisConfiguration(channel: uri.rest)
            configuration.region = values[region]
            configuration.profile = values[profile]
            configuration.endpoint = values[endpoint]
            configuration.authorities = values[authorities]
            return configuration
        }
    }
#endif
