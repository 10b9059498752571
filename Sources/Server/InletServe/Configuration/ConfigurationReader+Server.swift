import InletCore
import InletHTTPServer

extension ConfigurationReader {
    /// Returns the server's settings from a configuration.
    func server(_ node: ConfigurationNode?, _ problems: inout [ConfigurationProblem]) -> ServerSettings {
        var settings = ServerSettings()
        guard let node else { return settings }
        if let text = node["listen"]?.scalar, let address = try? ListenAddress(text, scheme: "listen") {
            settings.host = address.host ?? settings.host
            settings.port = address.port ?? settings.port
        }
        if let streams = node["streams"]?.scalar.flatMap({ TextBytes.number($0.utf8, upTo: 1024) }), streams > 0 {
            settings.streams = streams
        }
        if let tls = node["tls"], let certificate = tls["certificate"]?.scalar, let key = tls["key"]?.scalar {
            func path(_ text: String) -> String {
                credentials.map { Self.replace("{credentials}", in: text, by: $0) } ?? text
            }
            settings.tls = TLSFiles(certificate: path(certificate), key: path(key))
        }
        let path = "server.webrtc"
        if let place = node["webrtc"], let text = place.scalar, !text.isEmpty,
            let uri = expanded(text, place, path, &problems)
        {
            settings.webRTC = uri
            check(place, path: path, &problems) {
                // Other kinds of sinks are rejected, because a build without WebRTC would otherwise accept them.
                guard uri.prefix(upToByte: ":").isSameBytes(as: "webrtc") else {
                    throw InletError(
                        .invalidConfiguration, "Write webrtc: with options only, such as webrtc:?viewers=20.")
                }
                // A build without WebRTC throws an error that explains how to get it.
                _ = try registry.sink(uri)
                _ = try makeWebRTC?(.check(uri))
            }
        }
        if let place = node["restream"], let text = place.scalar {
            settings.restream = restream(text, place, hasTokens: !(node["tokens"]?.members ?? []).isEmpty, &problems)
        }
        func rate(_ key: String) -> Int? {
            node["requests"]?[key]?.scalar.flatMap { TextBytes.number($0.utf8, upTo: 100_000) }
        }
        settings.requestsPerClient = rate("per-client") ?? settings.requestsPerClient
        settings.requestsPerToken = rate("per-token") ?? settings.requestsPerToken
        settings.proxy.basePath = node["base-path"]?.scalar.flatMap(ProxyRule.prefix) ?? ""
        settings.proxy.trusted = (node["trusted-proxies"]?.elements ?? []).compactMap { element in
            element.scalar.flatMap { try? ProxyRule.Network($0) }
        }
        if let place = node["trusted-proxies"], !settings.proxy.trusted.isEmpty {
            check(place, path: "server.trusted-proxies", &problems) {
                guard !(node["tokens"]?.members ?? []).isEmpty else {
                    throw InletError(
                        .invalidConfiguration,
                        "Clients of a proxy are on other machines, so they need tokens. Add tokens: under server:.")
                }
            }
        }
        settings.audit = node["audit"]?.scalar
        for member in (node["tokens"]?.members ?? []).prefix(64) where CameraName.isValid(member.key) {
            let path = "server.tokens.\(member.key)"
            guard let scope = member.value["scope"]?.scalar.flatMap(AccessScope.init) else { continue }
            do throws(InletError) {
                let cameras = try cameras(of: member.value)
                let token = TokenSettings(
                    scope: scope, cameras: cameras, secret: try secret(of: member.value, "the token"))
                try AccessRule.validate(token: token.secret)
                if settings.tokens.values.contains(where: { $0.secret.isSameBytes(as: token.secret) }) {
                    throw InletError(.invalidConfiguration, "Two tokens are the same. Change one of them.")
                }
                settings.tokens[member.key] = token
            } catch {
                problems.append(.init(error.message, at: member.value.place, path: path))
            }
        }
        return settings
    }

    /// Returns the RTSP settings.
    private func restream(
        _ text: String, _ place: ConfigurationNode, hasTokens: Bool, _ problems: inout [ConfigurationProblem]
    ) -> RestreamSettings? {
        guard let address = try? ListenAddress(text, scheme: "restream"), let host = address.host,
            let port = address.port
        else { return nil }
        let settings = RestreamSettings(host: host, port: port)
        check(place, path: "server.restream", &problems) {
            guard makeRestream != nil else {
                throw InletError(
                    .unsupported,
                    "This build cannot serve cameras by RTSP. Install a package with WebRTC, or build with 'swift "
                        + "build --traits GStreamer'.")
            }
            guard hasTokens || AccessRule.isLoopback(settings.host) else {
                throw InletError(
                    .invalidConfiguration,
                    "Other machines can reach this address, so readers must log in. Add tokens: their names are the "
                        + "user names, and their secrets are the passwords.")
            }
        }
        return settings
    }

    func cameras(of node: ConfigurationNode) throws(InletError) -> CameraFilter {
        guard let list = node["cameras"]?.elements else { return .all }
        guard !list.isEmpty else {
            throw InletError(
                .invalidConfiguration, "The list of cameras is empty. Remove cameras: to select all.")
        }
        return CameraFilter(patterns: list.compactMap(\.scalar))
    }

    /// Returns a secret, which one of three keys provides.
    ///
    /// - Parameter what: the name of the secret, with an article.
    func secret(of node: ConfigurationNode, _ what: String) throws(InletError) -> String {
        let places = ["file", "env", "credential"].compactMap { key in node[key]?.scalar.map { (key, $0) } }
        guard let (key, name) = places.first, places.count == 1 else {
            throw InletError(
                .invalidConfiguration,
                "Give the location of \(what) by one of file:, env: and credential:. Do not write it into the "
                    + "configuration itself.")
        }
        switch key {
        case "file": return try registry.localAccess.secret(.file(name), option: key)
        case "env": return try registry.localAccess.secret(.variable(name), option: key)
        default:
            guard let credentials else {
                throw InletError(
                    .invalidConfiguration,
                    "systemd provides no credentials. Start the daemon as a service with LoadCredential=\(name):PATH.")
            }
            guard !name.contains(byte: "/"), name != ".", name != ".." else {
                throw InletError(.invalidConfiguration, "The name of a credential must not contain slashes.")
            }
            return try registry.localAccess.secret(.file("\(credentials)/\(name)"), option: key)
        }
    }
}
