package import InletCore

/// A room of the plug-in VideoRoom of the media server Janus, with the data for entering it
/// (https://janus.conf.meetecho.com/docs/videoroom).
public struct JanusRoom: Sendable, Hashable {
    /// The address of Janus's WebSocket, with `ws:` or `wss:`.
    public var address: String
    /// The room. A name of only digits is sent as a number, as Janus expects unless its `string_ids` is set.
    public var room: String
    /// The room's PIN. A secret. The default is nil.
    public var pin: String?
    /// The token of Janus's token-based authentication. A secret. The default is nil.
    public var token: String?
    /// The secret of Janus's API, `api_secret`. The default is nil.
    public var apiSecret: String?
    /// The path of a PEM file with certificate authorities for `wss:`. The default, nil, is the system's.
    public var authorities: String?

    /// - Parameters:
    ///   - address: such as `ws://127.0.0.1:8188/`.
    ///   - room: such as `1234`.
    public init(_ address: String, room: String) {
        self.address = address
        self.room = room
    }

    /// Checks for values that could not be sent.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    package func validate() throws(InletError) {
        guard (1...256).contains(room.utf8.count), room.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw InletError(
                .invalidConfiguration, "room= names the room of Janus's VideoRoom, such as room=1234.")
        }
        for secret in [pin, token, apiSecret].compactMap(\.self) where secret.utf8.count > 1024 {
            throw InletError(.invalidConfiguration, "A PIN, a token or a secret has at most 1024 bytes.")
        }
    }

    /// Returns an identifier in the form that Janus reads.
    package static func identifier(_ text: String) -> JSONValue {
        let isNumber = text.isASCIIDigits && text.utf8.count <= 19 && (text.utf8.count == 1 || !text.hasBytePrefix("0"))
        return JSONValue(isNumber ? .number(text) : .string(text))
    }
}
