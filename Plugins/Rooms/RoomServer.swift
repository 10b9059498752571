public import InletCore
import InletHTTPServer
public import InletRTC
public import Logging
import NIOCore
import Synchronization

/// A server of rooms, in which peers reach each other by name over WebSockets. It runs until ``stop()``. Safe from any
/// thread.
///
/// The path of a WebSocket is the room: `ws://HOST:PORT/ROOM?id=NAME`. The server does not support TLS: for `wss:`,
/// put a proxy with TLS in front of it.
public final class RoomServer: Sendable {
    /// The address of a server, and its limits.
    public struct Configuration: Sendable {
        /// The address; `0.0.0.0` or `::` for all addresses of this machine. The default is `127.0.0.1`.
        public var host = "127.0.0.1"
        /// The TCP port; 0 for any free port. The default is 8443.
        public var port = 8443
        /// The token that every member must send, as `?token=` or as a bearer token; nil for no token. If other
        /// machines can reach the server and no token is set, one is generated and logged with the address. The
        /// default is nil.
        public var token: String?
        /// The STUN and TURN servers that members get for their sessions. From a shared secret, each member gets
        /// credentials that expire, and newer ones when half of their lifetime has passed. `tls` and `isRelayOnly` are
        /// each member's own and are ignored. Empty by default.
        public var ice = ICEServers()
        /// The limits. By default, each has its own default.
        public var limits = RoomLimits()
        /// The log, which contains the address and reports clients that guess tokens.
        public var logger = Logger(label: "inlet.signal")

        /// Creates a configuration with default values.
        public init() {}

        /// Creates a configuration for `HOST:PORT`, `HOST`, `PORT`, `[::1]:PORT` or an empty text.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration``.
        public init(listeningAt address: String) throws(InletError) {
            let place = try ListenAddress(address, scheme: "signal")
            host = place.host ?? host
            port = place.port ?? port
        }
    }

    /// The address on which it listens, such as `127.0.0.1:8443`.
    public let address: String
    /// The addresses of a room named ROOM, with the token if it was generated.
    public let rooms: String
    private let listener: HTTPListener
    private let hub: NIOLoopBoundBox<RoomHub>

    /// Starts to listen. Blocks briefly, so it must not be called on a shared thread.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for invalid limits or an invalid token,
    ///   ``InletError/Code/busy`` if another program listens on the port, and other codes if it cannot listen there.
    public init(_ configuration: Configuration) throws(InletError) {
        let (limits, logger) = (configuration.limits, configuration.logger)
        let access = AccessRule(host: configuration.host, port: configuration.port, token: configuration.token)
        try limits.validate()
        var ice = configuration.ice
        ice.isRelayOnly = false
        try ice.validate()
        guard ice.lifetime >= .seconds(1), ice.fixed.count + ice.shared.count <= RoomMessage.mostServers else {
            throw InletError(
                .invalidConfiguration,
                "Members get at most \(RoomMessage.mostServers) STUN and TURN servers, with credentials for a second "
                    + "or more.")
        }
        try access.validate()
        let listener = HTTPListener()
        self.listener = listener
        let hub = NIOLoopBoundBox.makeBoxSendingValue(RoomHub(limits, ice), eventLoop: listener.loop)
        self.hub = hub
        let hasToken = access.token != nil
        let place = HTTPListener.Place(
            access, connections: limits.connections + Self.reserved, bodyBytes: 0, patience: .seconds(10))
        address = try listener.listen(at: place, logger: logger) { connection in
            RoomService(hub.value, hasToken: hasToken, connection: connection)
        }
        rooms = HTTPListener.pages(of: access, at: address).split(atByte: " ").map {
            guard $0.hasBytePrefix("http://") else { return String($0) }
            let parts = $0.dropFirst("http://".utf8.count).split(atByte: "/", limit: 1)
            return "ws://\(parts[0])/ROOM\(parts.count > 1 ? parts[1] : "")"
        }.joined(separator: " ")
        logger.notice("Signaling rooms are available at \(rooms)")
    }

    /// Connections in addition to those of members, so that a newcomer gets a response even if the server is full.
    private static let reserved = 32

    /// Sends a goodbye to all members and ends the server. Returns when that is done, or after two seconds. Blocks, so
    /// it must not be called on a shared thread.
    public func stop() {
        let hub = hub
        try? listener.loop.submit { hub.value.end() }.wait()
        listener.stop()
    }
}
