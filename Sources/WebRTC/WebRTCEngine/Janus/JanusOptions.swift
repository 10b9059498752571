package import InletCore
package import InletRTC

/// The options for entering a room of Janus.
package enum JanusOptions {
    private static let room = PluginOption("room", default: "", "The room; it must be given")
    private static let pin = PluginOption.secret("pin", "The room's PIN")
    private static let token = PluginOption.secret("token", "The token of Janus's token-based authentication")
    private static let secret = PluginOption.secret("api-secret", "The secret of Janus's API")
    private static let authorities = PluginOption.file(
        "tls-ca", "A PEM file of certificate authorities for janus+wss:")

    package static var descriptions: [PluginOptionDescription] {
        [room.description, pin.description, token.description, secret.description, authorities.description]
    }

    /// Returns the room that a URI names.
    package static func room(_ uri: PluginURI, _ values: PluginOptionValues) -> JanusRoom {
        var room = JanusRoom("\(uri.scheme.dropFirst("janus+".count)):\(uri.rest)", room: values[Self.room])
        room.pin = values[pin]
        room.token = values[token]
        room.apiSecret = values[secret]
        room.authorities = values[authorities]
        return room
    }
}
