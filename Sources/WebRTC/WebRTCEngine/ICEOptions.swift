package import InletCore
package import InletRTC

/// The options for reaching peers.
package enum ICEOptions {
    package static let stun = PluginOption<String?>(
        "stun", default: nil, "STUN servers as HOST:PORT, separated by commas")
    package static let turn = PluginOption<String?>(
        "turn", default: nil,
        "Relays as HOST:PORT, separated by commas, each with turns: or ?transport=tcp if needed")
    package static let user = PluginOption<String?>("turn-user", default: nil, "The user name for the relays")
    package static let password = PluginOption.secret("turn-password", "The password for the relays")
    package static let secret = PluginOption.secret(
        "turn-secret", "A secret shared with the relays, from which expiring credentials are made")
    package static let authorities = PluginOption.file(
        "turn-tls-ca", "A PEM file of certificate authorities for relays with turns:")
    package static let verify = PluginOption(
        "turn-tls-verify", default: RelayTLS().isVerified, "Whether the certificates of relays are checked")
    package static let relayOnly = PluginOption(
        "relay-only", default: ICEServers().isRelayOnly, "Always send through a relay")

    package static var descriptions: [PluginOptionDescription] {
        [
            stun.description, turn.description, user.description, password.description, secret.description,
            authorities.description, verify.description, relayOnly.description,
        ]
    }

    package static func servers(_ values: PluginOptionValues) throws(InletError) -> ICEServers {
        var servers = try ICEServers(
            stun: values[stun], turn: values[turn], user: values[user], password: values[password],
            secret: values[secret], isRelayOnly: values[relayOnly])
        (servers.tls.authorities, servers.tls.isVerified) = (values[authorities], values[verify])
        return servers
    }
}
