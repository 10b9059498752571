public import InletCore
import InletHTTP
public import InletRTC
public import Logging
import NIOCore
import Synchronization

/// A server of rooms, in which peers reach each other by name over WebSockets. It runs until ``stop()``. Safe from any
/// thread.
///
/// The path of a WebSocket is the room: `ws://HOST:PORT/ROOM?id=NAME`. It speaks no TLS: for `wss:`, a proxy that does
/// stands in front.
public final class RoomServer: Sendable {
    /// Where a server listens, and its limits.
    public struct Configuration: Sendable {
        /// The address; `0.0.0.0` or `::` for all of this machine. The default is `127.0.0.1`.
        public var host = "127.0.0.1"
        /// The TCP port; 0 for any that is free. The default is 8443.
        public var port = 8443
        /// The token that every member must present, as `?token=` or as a bearer token; nil for none. One is made, and
        /// told with the address, if other machines can reach the server and none is given. The default is nil.
        public var token: String?
        /// STUN and TURN servers for the sessions of members, which the server tells each. Of the shared secret each
        /// member gets credentials that expire, and newer ones when half of their life is over. `tls` and `isRelayOnly`
        /// are each member's own and are ignored. The default is none.
        public var ice = ICEServers()
        /// The limits. The default is that of each.
        public var limits = RoomLimits()
        /// The log, which names the address and reports clients that guess tokens.
        public var logger = Logger(label: "inlet.signal")

        /// Creates a configuration with the defaults.
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

    /// The address that it listens at, such as `127.0.0.1:8443`.
    public let address: String
    /// The addresses of a room named ROOM, with a token that was made here.
    public let rooms: String
    private let listener: HTTPListener
    private let hub: NIOLoopBoundBox<RoomHub>

    /// Starts to listen. Blocks briefly, so it must not be called from a shared thread.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for limits or a token that cannot be,
    ///   ``InletError/Code/busy`` if something else listens at the port, and other codes if it cannot listen there.
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
        logger.notice("Rooms for signaling are at \(rooms)")
    }

    /// Connections beyond those of members: a newcomer gets an answer even if all places are taken.
    private static let reserved = 32

    /// Says goodbye to all members and ends the server. Returns when that is done, or after two seconds. Blocks, so it
    /// must not be called from a shared thread.
    public func stop() {
        let hub = hub
        try? listener.loop.submit { hub.value.end() }.wait()
        listener.stop()
    }
}
