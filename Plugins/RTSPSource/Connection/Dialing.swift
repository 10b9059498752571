import InletCore
import InletFFmpeg

/// Makes further connections to a server: to the address that the first one reached, which needs no look-up and is
/// known to be allowed.
struct Dialing {
    private let address: SocketAddress?
    private let host: String
    private let tls: TLSSettings?

    /// - Parameters:
    ///   - first: an established connection.
    ///   - host: the name or numeric address that the certificate must be for.
    ///   - tls: the check of the certificate; nil for no TLS.
    init(_ first: TCPChannel, host: String, tls: TLSSettings?) {
        address = first.remoteAddress
        self.host = host
        self.tls = tls
    }

    /// Begins another connection.
    func begin() throws(InletError) -> TCPChannel {
        guard let address else {
            throw InletError(.disconnected, "The connection was broken off. Check the server and the network.")
        }
        return try TCPChannel(connectingTo: address)
    }

    /// Returns the channel over an established connection: itself, or TLS.
    func secured(_ socket: TCPChannel) throws(InletError) -> any ByteChannel {
        guard let tls else { return socket }
        return try TLSChannel(socket, host: host, tls)
    }
}
