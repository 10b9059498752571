package import InletCore
package import InletRTC
import InletTLS
package import Logging
import NIOCore
import NIOPosix
import Synchronization

/// A tunnel to a relay over TLS for an ICE agent that has TURN only over TCP, such as libnice: a TCP port of this
/// machine's loopback, whose connections are forwarded to the relay in TLS. Safe from any thread.
///
/// Other users of this machine reach the port, too. Through it they reach the relay, where they need credentials.
package final class RelayTunnel: Sendable {
    /// The port at the loopback address.
    package let port: Int
    private let listener: any Channel
    private let ends: Ends

    /// The most connections at a time: an agent makes one for each of this machine's addresses.
    private static let mostConnections = 64
    private static let connectLimit = TimeAmount.seconds(5)

    /// The connections of a tunnel, and why the last one failed.
    private final class Ends: Sendable {
        private let state = Mutex(State())

        private struct State {
            var channels: [ObjectIdentifier: any Channel] = [:]
            var isClosed = false
            var failure: InletError?
        }

        var failure: InletError? { state.withLock { $0.failure } }

        /// - Returns: whether the failure is the first.
        func note(_ error: InletError) -> Bool {
            state.withLock { state in
                let isFirst = state.failure == nil
                // The end of the connection is less informative than the refusal of TLS.
                if state.failure?.code != .tlsFailed { state.failure = error }
                return isFirst
            }
        }

        /// - Returns: false if there are too many, or the tunnel is closed.
        func add(_ channel: any Channel) -> Bool {
            state.withLock { state in
                guard !state.isClosed, state.channels.count < RelayTunnel.mostConnections else { return false }
                state.channels[ObjectIdentifier(channel)] = channel
                return true
            }
        }

        func remove(_ channel: any Channel) {
            _ = state.withLock { $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
        }

        func close() {
            let channels = state.withLock { state in
                state.isClosed = true
                return Array(state.channels.values)
            }
            for channel in channels { channel.close(promise: nil) }
        }
    }

    /// Starts to listen. Blocks briefly, so it must not be called from an event loop.
    ///
    /// - Parameters:
    ///   - host: the loopback address to listen at.
    /// - Throws: ``InletError/Code/inputOutput`` if the system refuses a port.
    package init(to server: ICEServer, _ settings: RelayTLS, host: String, logger: Logger) throws(InletError) {
        let ends = Ends()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { local in
                guard ends.add(local) else { return local.close() }
                local.closeFuture.whenComplete { _ in ends.remove(local) }
                return local.eventLoop.makeCompletedFuture {
                    let start = TunnelStart { local in
                        Self.connect(local, to: server, settings) { error in
                            guard ends.note(error) else { return }
                            logger.warning("\(error.about(server.uri))")
                        }
                    }
                    try local.pipeline.syncOperations.addHandler(start)
                }
            }
        do {
            listener = try bootstrap.bind(host: host, port: 0).wait()
        } catch {
            throw InletError(
                .inputOutput, "No port of the loopback interface can be used for a relay over TLS.", cause: error,
                context: .init(operation: "bind"))
        }
        port = listener.localAddress?.port ?? 0
        self.ends = ends
    }

    /// The reason why a connection to the relay failed; nil if none did.
    package var failure: InletError? { ends.failure }

    /// Closes the port and all connections. Returns at once.
    package func close() {
        listener.close(promise: nil)
        ends.close()
    }

    /// Connects an accepted connection with the relay.
    private static func connect(
        _ local: any Channel, to server: ICEServer, _ settings: RelayTLS,
        failed: @escaping @Sendable (InletError) -> Void
    ) {
        ClientBootstrap(group: local.eventLoop)
            .connectTimeout(connectLimit)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { relay in
                relay.eventLoop.makeCompletedFuture {
                    let tls = try TLSClientHandler(host: server.host, Self.client(settings)) { result in
                        switch result {
                        case .success: break
                        // An agent may close an unneeded connection.
                        case .failure(let error): if local.isActive { failed(error) }
                        }
                    }
                    try relay.pipeline.syncOperations.addHandlers([tls, TunnelEnd(partner: local)])
                }
            }
            .connect(host: server.host, port: server.port)
            .flatMap { relay in
                local.eventLoop.makeCompletedFuture {
                    guard local.isActive else { throw ChannelError.ioOnClosedChannel }
                    try local.pipeline.syncOperations.addHandler(TunnelEnd(partner: relay))
                }
                .flatMap { local.setOption(.autoRead, value: true) }
                .flatMapErrorThrowing { error in
                    relay.close(promise: nil)
                    throw error
                }
            }
            .whenFailure { error in
                if local.isActive { failed(Self.error(error)) }
                local.close(promise: nil)
            }
    }

    /// The settings of TLS, with the names of options that errors mention.
    private static func client(_ settings: RelayTLS) -> TLSClientSettings {
        var client = TLSClientSettings()
        (client.authorities, client.isVerified) = (settings.authorities, settings.isVerified)
        (client.peer, client.purpose, client.authoritiesOption) = ("relay", "turns:", "turn-tls-ca")
        client.trustAdvice = "Name its authority with turn-tls-ca, or accept any with turn-tls-verify=false."
        return client
    }

    private static func error(_ error: any Error) -> InletError {
        if let error = error as? InletError { return error }
        // Errors before data was sent, such as with the file of authorities.
        let causes = (error as? NIOConnectionError)?.connectionErrors ?? []
        if let own = causes.lazy.compactMap({ $0.error as? InletError }).first { return own }
        let isUnknown = (error as? NIOConnectionError).map { !($0.dnsAError == nil && $0.dnsAAAAError == nil) }
        if isUnknown ?? false, (error as? NIOConnectionError)?.connectionErrors.isEmpty ?? true {
            return InletError(
                .hostNotFound, "The name service does not know the relay. Check its spelling, and that DNS works.",
                cause: error)
        }
        return InletError(
            .disconnected, "The relay cannot be reached by TCP. Check its address, its port and the network.",
            cause: error, context: .init(operation: "connect"))
    }
}

/// Begins once the agent's connection is up: before that it looks like one that the agent has closed.
private final class TunnelStart: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    private let begin: (any Channel) -> Void

    init(_ begin: @escaping (any Channel) -> Void) { self.begin = begin }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        begin(context.channel)
    }
}

/// One end of a tunnel: passes received data to the other end, and reads no more while that is behind. Confined to
/// the event loop of both.
private final class TunnelEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let partner: any Channel

    init(partner: any Channel) { self.partner = partner }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partner.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        _ = partner.setOption(.autoRead, value: context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        partner.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
