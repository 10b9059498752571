import InletCore
package import InletTLS

/// How a ``WebSocketClient`` connects, and its bounds.
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
    /// How certificates are checked. The default is by the system's authorities.
    package var tls = TLSClientSettings()
    /// The most time to find the host and connect to it by TCP. The default is five seconds.
    package var connectLimit: Duration = .seconds(5)
    /// The most time for the whole of connecting: TCP, TLS and the response to the request. The default is 15 seconds.
    package var openingLimit: Duration = .seconds(15)
    /// The most time until a message that is sent has left this process, and for the closing handshake. The default is
    /// five seconds.
    package var sendLimit: Duration = .seconds(5)
    /// The interval between pings. The default is 15 seconds.
    package var pingInterval: Duration = .seconds(15)
    /// The most time without a byte from the server before it counts as gone, which must be more than
    /// ``pingInterval``. The default is 30 seconds.
    package var silenceLimit: Duration = .seconds(30)
    /// The most bytes of a message that arrives. The default is 1 MiB.
    package var mostMessageBytes = 1 << 20
    /// The most fragments of a message that arrives. The default is 1024.
    package var mostFragments = 1024
    /// The most messages that wait to be read; no more is read from the network then. A single read of the network may
    /// exceed the limit. The default is 256.
    package var mostUnreadMessages = 256
    /// The most bytes of messages that wait to be read. The default is 4 MiB.
    package var mostUnreadBytes = 4 << 20
    /// The most bytes that wait to be sent; sending more fails. The default is 4 MiB.
    package var mostUnsentBytes = 4 << 20

    package init(address: WebSocketAddress) { self.address = address }

    /// Checks what could break the request.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a header or a subprotocol has bytes that it cannot have.
    func validate() throws(InletError) {
        for header in headers {
            guard WebSocketHandshake.isToken(header.name),
                header.value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) })
            else {
                throw InletError(.invalidConfiguration, "A header for a WebSocket has bytes that headers cannot have.")
            }
        }
        guard subprotocols.allSatisfy(WebSocketHandshake.isToken) else {
            throw InletError(.invalidConfiguration, "A subprotocol of a WebSocket is not a word of letters and digits.")
        }
    }
}
