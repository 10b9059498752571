import InletCore
package import InletTLS

/// The configuration of a ``WebSocketClient``, with its limits.
package struct WebSocketConfiguration: Sendable {
    /// A header of the request.
    package struct Header: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The address to connect to.
    package var address: WebSocketAddress
    /// Headers of the request besides those of the protocol. Empty by default.
    package var headers: [Header] = []
    /// The subprotocols that are offered, the preferred first. Empty by default.
    package var subprotocols: [String] = []
    /// How certificates are checked. The default uses the system's authorities.
    package var tls = TLSClientSettings()
    /// The time limit to find the host and connect to it by TCP. The default is five seconds.
    package var connectLimit: Duration = .seconds(5)
    /// The time limit of the entire connecting: TCP, TLS and the response to the request. The default is 15 seconds.
    package var openingLimit: Duration = .seconds(15)
    /// The time limit for a message to leave this process, and for the closing handshake. The default is five seconds.
    package var sendLimit: Duration = .seconds(5)
    /// The interval between pings. The default is 15 seconds.
    package var pingInterval: Duration = .seconds(15)
    /// The time without a byte from the server after which it counts as gone. Must be greater than ``pingInterval``.
    /// The default is 30 seconds.
    package var silenceLimit: Duration = .seconds(30)
    /// The maximum bytes of a received message. The default is 1 MiB.
    package var mostMessageBytes = 1 << 20
    /// The maximum fragments of a received message. The default is 1024.
    package var mostFragments = 1024
    /// The maximum number of unread messages. Reading from the network pauses at the limit; a single read may exceed
    /// it. The default is 256.
    package var mostUnreadMessages = 256
    /// The maximum bytes of unread messages. The default is 4 MiB.
    package var mostUnreadBytes = 4 << 20
    /// The maximum bytes that wait to be sent; sending more fails. The default is 4 MiB.
    package var mostUnsentBytes = 4 << 20

    package init(address: WebSocketAddress) { self.address = address }

    /// Checks the parts that could break the request.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a header or a subprotocol has bytes that are not allowed
    ///   in it.
    func validate() throws(InletError) {
        for header in headers {
            guard WebSocketHandshake.isToken(header.name),
                header.value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) })
            else {
                throw InletError(.invalidConfiguration, "A header of the WebSocket has bytes that are not allowed.")
            }
        }
        guard subprotocols.allSatisfy(WebSocketHandshake.isToken) else {
            throw InletError(.invalidConfiguration, "A subprotocol of a WebSocket is not a word of letters and digits.")
        }
    }
}
