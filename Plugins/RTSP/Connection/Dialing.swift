import InletCore
import InletFFmpeg

/// Opens further connections to a server, at the address that the first one reached: it needs no look-up and is known
/// to be allowed.
struct Dialing {
    private let address: SocketAddress?
    private let host: String
    private let tls: TLSSettings?

    /// - Parameters:
    ///   - first: an established connection.
    ///   - host: the name or numeric address that the certificate must match.
    ///   - tls: the check of the certificate; nil for no TLS.
    init(_ first: TCPChannel, host: String, tls: TLSSettings?) {
        address = first.remoteAddress
        self.host = host
        self.tls = tls
    }

    /// Starts another connection.
    func begin() throws(InletError) -> TCPChannel {
        guard let address else {
            throw InletError(.disconnected, "The connection was lost. Check the server and the network.")
        }
        return try TCPChannel(connectingTo: address)
    }

    /// Returns the channel over an established connection: the connection itself, or TLS over it.
    func secured(_ socket: TCPChannel) throws(InletError) -> any ByteChannel {
        guard let tls else { return socket }
        return try TLSChannel(socket, host: host, tls)
    }
}
