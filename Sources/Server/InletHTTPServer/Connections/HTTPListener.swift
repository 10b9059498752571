import Dispatch
package import InletCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix

/// Owns the listening socket, the connections and the single thread of a small web server.
package final class HTTPListener: Sendable {
    /// The address that a server listens on, and its limits.
    package struct Place: Sendable {
        package var access: AccessRule
        /// The most connections at a time. A further connection replaces a waiting one or is closed immediately.
        package var connections: Int
        /// The most bytes of a request's body.
        package var bodyBytes: Int
        /// How long a client may take to read a response, or a part of a stream.
        package var patience: Duration
        /// Counts wrong tokens and requests. The default counts only those of this server and does not limit requests.
        package var clients = ClientLedger()
        /// The settings for a reverse proxy. The default is no proxy.
        package var proxy = ProxyRule()
        /// Makes the TLS handler of a connection, on the server's thread. The default, nil, is plain HTTP. If set,
        /// ``AccessRule/isSecure`` must be true.
        package var makeTLS: (@Sendable () throws -> any ChannelHandler)?

        package init(_ access: AccessRule, connections: Int, bodyBytes: Int, patience: Duration) {
            self.access = access
            self.connections = connections
            self.bodyBytes = bodyBytes
            self.patience = patience
        }
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Starts the thread. Does not listen yet. The caller must call ``stop()`` in the end.
    package init() {}

    /// The server's only thread.
    package var loop: any EventLoop { group.next() }

    /// Starts to listen. Blocks briefly, so it must not be called on a shared thread.
    ///
    /// - Parameters:
    ///   - logger: reports clients that guess tokens.
    ///   - makeService: returns the service for a connection's requests. Called on the server's only thread. The
    ///     service must not hold the connection.
    /// - Returns: the address that the server listens on, such as `127.0.0.1:8090`.
    /// - Throws: ``InletError`` if it cannot listen on the address. The thread has then ended.
    package func listen(
        at place: Place, logger: Logger, makeService: @escaping @Sendable (HTTPConnection) -> any HTTPService
    ) throws(InletError) -> String {
        let gate = HTTPGate(
            place.access, connections: place.connections, clients: place.clients, logger: logger)
        let limits = HTTPConnection.Limits(answer: TimeAmount(place.patience))
        let bytes = ReceivedBytes.headLimit + place.bodyBytes
        let bootstrap = ServerBootstrap(group: group)
            // Queues clients that connect while the thread is busy.
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Without this option, a part of a response would wait for the acknowledgement of the previous part.
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // The send buffer, for a client that does not read: about one picture, instead of megabytes for each
            // client.
            .childChannelOption(.socketOption(.so_sndbuf), value: 262_144)
            // The receive buffer, for a client that is not read: more than one request.
            .childChannelOption(.socketOption(.so_rcvbuf), value: 65_536)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let client = ClientAddress(channel.remoteAddress)
                    // A handshake costs more than most requests, so it counts as one. A proxy's connections serve many
                    // clients, whose requests are counted separately.
                    let isProxy = place.proxy.trusts(channel.remoteAddress)
                    if place.makeTLS != nil, !isProxy, !gate.mayBegin(client) { throw TooManyConnections() }
                    guard let id = gate.admit(channel, isProxy: isProxy) else { throw TooManyConnections() }
                    channel.closeFuture.whenComplete { _ in gate.remove(id) }
                    if let tls = try place.makeTLS?() { try channel.pipeline.syncOperations.addHandler(tls) }
                    let received = ReceivedBytes(limit: bytes)
                    var sizes = NIOHTTPDecoderLimitConfiguration()
                    sizes.maxHeaderListSize = ReceivedBytes.headLimit
                    sizes.maxHeaderFieldSize = ReceivedBytes.headLimit
                    sizes.maxHeaderFieldCount = 64
                    try channel.pipeline.syncOperations.addHandlers([
                        received, HTTPResponseEncoder(),
                        ByteToMessageHandler(
                            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: sizes)),
                        HTTPConnection(
                            gate: gate, id: id, client: client, proxy: place.proxy,
                            limits: limits, received: received, makeService: makeService),
                    ])
                }
            }
        do {
            let channel = try bootstrap.bind(host: place.access.host, port: place.access.port).wait()
            let port = channel.localAddress?.port ?? place.access.port
            return Self.text(host: place.access.host, port: port)
        } catch {
            stop()
            throw Self.failure(error, place)
        }
    }

    /// Closes all connections and ends the thread. Returns when that is done, or after two seconds.
    package func stop() {
        let isDone = DispatchSemaphore(value: 0)
        group.shutdownGracefully { _ in isDone.signal() }
        _ = isDone.wait(timeout: .now() + 2)
    }

    /// Returns the URLs of the page: all addresses of this machine if the server listens on all of them. They contain
    /// the token if it was generated by this server.
    ///
    /// - Parameter address: the value that ``listen(at:logger:makeService:)`` returned.
    package static func pages(of access: AccessRule, at address: String) -> String {
        let query = access.isGenerated ? "?token=\(access.token ?? "")" : ""
        let scheme = access.isSecure ? "https" : "http"
        return addresses(of: access, at: address).map { "\(scheme)://\($0)/\(query)" }.joined(separator: " and ")
    }

    private static func addresses(of access: AccessRule, at address: String) -> [String] {
        guard access.host == "0.0.0.0" || access.host == "::",
            let port = address.utf8.lastIndex(of: UInt8(ascii: ":")).flatMap({ Int(address[$0...].dropFirst()) }),
            let devices = try? System.enumerateDevices()
        else { return [address] }
        let hosts = devices.compactMap(\.address).filter { other in
            other.protocol == .inet && !other.isMulticast && !AccessRule.isLoopback(other.ipAddress ?? "localhost")
        }
        let found = hosts.compactMap(\.ipAddress).prefix(4).map { text(host: $0, port: port) }
        return found.isEmpty ? [address] : found
    }

    private static func text(host: String, port: Int) -> String {
        "\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
    }

    private static func failure(_ error: any Error, _ place: Place) -> InletError {
        let (host, port) = (place.access.host, place.access.port)
        let name = "\(host) port \(port)"
        let number = (error as? IOError)?.errnoCode
        let (code, message): (InletError.Code, String) =
            switch number {
            case EADDRINUSE: (.busy, "Cannot listen at \(name): the port is in use. Choose another, or 0 for any.")
            case EACCES: (.permissionDenied, "The system refuses \(name): ports below 1024 are for root.")
            case EADDRNOTAVAIL:
                (.notFound, "This machine has no address \(host). Use 127.0.0.1, or 0.0.0.0 for all.")
            default:
                error is SocketAddressError
                    ? (.hostNotFound, "The name service does not know \(host). Use an address of this machine.")
                    : (.inputOutput, "Cannot listen at \(name): \(error)")
            }
        return InletError(code, message, cause: error, context: .init(operation: "bind", nativeCode: number))
    }

    private struct TooManyConnections: Error {}
}
