import InletCore
import InletFFmpeg
import InletNetwork
import InletRTSP

extension RTSPConfiguration {
    /// Returns the port of a server.
    func port(of url: RTSPURL) -> UInt16 {
        switch transport {
        case .http, .websocket: url.tunnelPort
        case .auto, .tcp, .udp, .udpOnly, .multicast: url.port
        }
    }

    /// Returns the channel that carries RTSP over an established connection.
    ///
    /// - Parameter credentials: the credentials for the server; nil without credentials.
    /// - Throws: as ``TLSChannel/init(_:host:_:)``; ``InletError/Code/disconnected`` if the connection broke.
    func channel(
        over socket: TCPChannel, to url: RTSPURL, _ credentials: RTSPCredentials?
    ) throws(InletError) -> any ByteChannel {
        let dialing = Dialing(
            socket, host: String(decoding: url.host, as: UTF8.self), tls: url.isSecure ? tls : nil)
        // The path may contain a secret, which is meant only for the configured server.
        let path = try isOwnServer(url) ? tunnelPath.map { Array($0.utf8) } : nil
        let endpoint = HTTPEndpoint(url, path: path, userAgent: "Inlet")
        switch transport {
        case .auto, .tcp, .udp, .udpOnly, .multicast:
            return try dialing.secured(socket)
        case .http:
            let tunnel = HTTPTunnel(
                endpoint, credentials: credentials, isEncrypted: url.isSecure, basic: basicPolicy)
            return try TunnelChannel(over: socket, tunnel, dialing)
        case .websocket:
            let handshake = WebSocketHandshake(
                endpoint, credentials: credentials, isEncrypted: url.isSecure, basic: basicPolicy)
            return try WebSocketChannel(over: socket, handshake, dialing)
        }
    }

    /// Returns whether an address has the scheme, host and port of the configured one.
    private func isOwnServer(_ url: RTSPURL) throws(InletError) -> Bool {
        try RTSPURL(Array(NetworkAddress(self.url).withoutCredentials.utf8)).hasSameOrigin(as: url)
    }
}
