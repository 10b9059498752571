import Dispatch
package import InletCore
package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Owns the listening socket, the connections and the one thread of a small web server.
package final class HTTPListener: Sendable {
    /// Where a server listens, and how much it bears.
    package struct Place: Sendable {
        package var host: String
        /// 0 has the system choose one.
        package var port: Int
        /// The most connections at a time; more are refused.
        package var connections: Int
        /// The most bytes of a request with its head and its body.
        package var requestBytes: Int

        package init(host: String, port: Int, connections: Int, requestBytes: Int) {
            self.host = host
            self.port = port
            self.connections = connections
            self.requestBytes = requestBytes
        }
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Starts the thread. Listens to nothing yet. Call ``stop()`` in the end.
    package init() {}

    /// The server's one thread.
    package var loop: any EventLoop { group.next() }

    /// Starts to listen. Blocks for the moment that this takes, so not to be called from a thread that others share.
    ///
    /// - Parameter handler: makes what answers the requests of a connection, on the server's one thread.
    /// - Returns: where it listens, such as `127.0.0.1:8090`.
    /// - Throws: ``InletError`` where the address cannot be had. The thread is then ended.
    package func listen(
        at place: Place, handler: @escaping @Sendable (RequestSizeLimit) -> any ChannelInboundHandler
    ) throws(InletError) -> String {
        let connections = ConnectionCount(maximum: place.connections)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // A part of an answer that waits for the last one's acknowledgement would come late.
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // What the system takes for a client that does not read: about a picture, rather than megabytes for each.
            .childChannelOption(.socketOption(.so_sndbuf), value: 262_144)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.add(channel) else { throw TooManyConnections() }
                    let limit = RequestSizeLimit(bytes: place.requestBytes)
                    try channel.pipeline.syncOperations.addHandler(limit)
                    var limits = NIOHTTPDecoderLimitConfiguration()
                    limits.maxHeaderListSize = RequestSizeLimit.headBytes
                    limits.maxHeaderFieldSize = RequestSizeLimit.headBytes
                    limits.maxHeaderFieldCount = 64
                    try channel.pipeline.syncOperations.addHandlers([
                        HTTPResponseEncoder(),
                        ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)),
                        // No handler for pipelining: it reads nothing during an answer, and so would not see a client leave.
                        HTTPServerProtocolErrorHandler(),
                        handler(limit),
                    ])
                }
            }
        do {
            let channel = try bootstrap.bind(host: place.host, port: place.port).wait()
            let host = place.host.contains(":") ? "[\(place.host)]" : place.host
            return "\(host):\(channel.localAddress?.port ?? place.port)"
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

    private static func failure(_ error: any Error, _ place: Place) -> InletError {
        let name = "\(place.host) port \(place.port)"
        let number = (error as? IOError)?.errnoCode
        let (code, message): (InletError.Code, String) =
            switch number {
            case EADDRINUSE: (.busy, "Something else listens at \(name). Choose another port, or 0 for any.")
            case EACCES: (.permissionDenied, "The system refuses \(name): ports below 1024 are for root.")
            case EADDRNOTAVAIL:
                (.notFound, "This machine has no address \(place.host). Use 127.0.0.1, or 0.0.0.0 for all.")
            default:
                error is SocketAddressError
                    ? (.hostNotFound, "The name service does not know \(place.host). Use an address of this machine.")
                    : (.inputOutput, "Cannot listen at \(name): \(error)")
            }
        return InletError(code, message, cause: error, context: .init(operation: "bind", nativeCode: number))
    }

    private struct TooManyConnections: Error {}
}

/// Counts open connections against their most.
private final class ConnectionCount: Sendable {
    private let maximum: Int
    private let count = Atomic(0)

    init(maximum: Int) { self.maximum = maximum }

    /// - Returns: false where there are too many already. A channel whose initializer fails is closed.
    func add(_ channel: any Channel) -> Bool {
        let isAllowed = count.wrappingAdd(1, ordering: .relaxed).newValue <= maximum
        channel.closeFuture.whenComplete { _ in self.count.wrappingSubtract(1, ordering: .relaxed) }
        return isAllowed
    }
}

/// Closes a connection whose request is larger than any that is answered. Confined to its channel's thread.
package final class RequestSizeLimit: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer

    /// Of a request's head.
    package static let headBytes = 16_384
    private let bytes: Int
    private var received = 0

    init(bytes: Int) { self.bytes = bytes }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        guard received <= bytes else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }

    /// A request was whole; the next one is counted anew.
    package func reset() { received = 0 }
}
