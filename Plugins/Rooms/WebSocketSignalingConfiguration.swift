public import InletCore
public import InletRTC
import InletTLS
import InletWebSocket

/// The address of a room, and the settings for entering it: `ws://HOST[:PORT]/ROOM?id=NAME`, or `wss:` for TLS.
public struct WebSocketSignalingConfiguration: Sendable {
    /// The address of the room, without name and token.
    public let address: String
    /// This side's name in the room.
    public var id: PeerID
    /// The token that the server requires; nil for no token. A secret: it is sent as a bearer token.
    public var token: String?
    /// The identity of this run, of at least 16 characters. A secret between this side and the server, which shows
    /// others only a digest: a connection that presents it replaces this side's earlier one. The default is random; a
    /// saved random value makes a restart look like a reconnection.
    public var instance = SignalingInstance()
    /// The wait before the second connection attempt. It doubles with each attempt, up to ``longestBackOff``, and is
    /// then shortened at random by up to half, so that many members do not return at once. The default is 250 ms.
    public var backOff = Duration.milliseconds(250)
    /// The longest such wait. The default is 15 seconds.
    public var longestBackOff = Duration.seconds(15)
    /// The time for which attempts may fail before the service ends with the last error; nil is no limit. The default
    /// is nil.
    public var patience: Duration?
    /// The time for which another member may hold this side's name before the service ends: long enough for the server
    /// to notice that a member has vanished. The default is 10 seconds.
    public var namePatience = Duration.seconds(10)
    /// The interval at which the server is pinged. The default is 10 seconds.
    public var pingInterval = Duration.seconds(10)
    /// The time of silence after which the server counts as gone. The default is 25 seconds.
    public var silence = Duration.seconds(25)
    /// The path of a PEM file with certificate authorities for `wss:`. The default, nil, uses the system's.
    public var authorities: String?
    /// The maximum number of bytes waiting to be sent; beyond that, messages are rejected. The default is 1,048,576.
    public var unsentBytes = 1_048_576

    /// Parses the address of a room.
    ///
    /// - Parameters:
    ///   - uri: `ws://HOST[:PORT]/ROOM`, optionally with `?id=NAME` and `&token=TOKEN`.
    ///   - id: this side's name. The default, nil, is the one in the address, or else a random one.
    ///   - token: the token. The default, nil, is the one in the address.
    /// - Throws: ``InletError/Code/invalidConfiguration``. The error does not quote values, which may be the token.
    public init(_ uri: String, id: PeerID? = nil, token: String? = nil) throws(InletError) {
        let place = try WebSocketAddress(uri)
        let parts = place.target.split(atByte: "?", limit: 1)
        guard RoomDirectory.room(inPath: String(parts[0])) != nil else {
            throw InletError(.invalidConfiguration, "The address of a room must be ws://HOST[:PORT]/ROOM?id=NAME.")
        }
        var name: PeerID?
        var shown: String?
        for item in parts.count > 1 ? parts[1].split(atByte: "&", keepsEmpty: false) : [] {
            let pair = item.split(atByte: "=", limit: 1)
            let value = pair.count > 1 ? PercentEncoding.decode(pair[1]) : ""
            if pair[0].isSameBytes(as: "id") {
                name = try PeerID(value)
            } else if pair[0].isSameBytes(as: "token") {
                shown = value
            } else {
                let known = "the options are id and token"
                throw InletError(
                    .invalidConfiguration,
                    "A room's address has no option '\(pair[0].sanitized(limit: 64))': \(known).")
            }
        }
        address = "\(place.isSecure ? "wss" : "ws")://\(place.authority)\(parts[0])"
        if let given = id ?? name { self.id = given } else { self.id = try PeerID("guest-\(RandomName.make())") }
        self.token = token ?? shown
    }

    /// Returns the settings for opening the WebSocket.
    func webSocket() throws(InletError) -> WebSocketConfiguration {
        let (name, run) = (PercentEncoding.encode(id.description), PercentEncoding.encode(instance.description))
        var configuration = WebSocketConfiguration(
            address: try WebSocketAddress("\(address)?id=\(name)&instance=\(run)"))
        if let token { configuration.headers = [.init("authorization", "Bearer \(token)")] }
        configuration.pingInterval = pingInterval
        configuration.silenceLimit = silence
        configuration.mostMessageBytes = SignalingEnvelope.longest
        configuration.mostUnsentBytes = unsentBytes
        configuration.tls.authorities = authorities
        configuration.tls.purpose = "wss:"
        return configuration
    }

    /// Rejects settings that cannot work.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    func validate() throws(InletError) {
        _ = try SignalingInstance(ofMember: instance.description)
        guard backOff > .zero, longestBackOff >= backOff, pingInterval > .zero, silence > pingInterval, unsentBytes > 0
        else {
            throw InletError(
                .invalidConfiguration,
                "A room's waits must be greater than zero, the longest must not be below the first, and silence must exceed "
                    + "the ping interval.")
        }
        if let token, !token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw InletError(.invalidConfiguration, "A token must be visible ASCII.")
        }
    }
}
