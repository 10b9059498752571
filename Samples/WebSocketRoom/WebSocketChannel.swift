#if WebRTC
    import Inlet
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOWebSocket

    /// Signaling in a room, by JSON over a WebSocket.
    final class WebSocketChannel: SignalingChannel {
        let incoming: AsyncStream<SignalingMessage>
        private let outgoing: AsyncStream<String>.Continuation

        /// Enters the room.
        init(port: Int, room: String) async throws {
            let socket = try await Self.connect(port: port, room: room)
            let (incoming, received) = AsyncStream.makeStream(
                of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(200))
            let (texts, outgoing) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(200))
            self.incoming = incoming
            self.outgoing = outgoing
            Task {
                try? await socket.talk(saying: texts, masked: true) { text in
                    if let message = SignalingJSON.message(text) { received.yield(message) }
                }
                received.finish()
                outgoing.finish()
            }
        }

        func send(_ message: SignalingMessage) async throws(SignalingFailure) {
            guard case .enqueued = outgoing.yield(SignalingJSON(message).text) else {
                throw SignalingFailure(InletError(.disconnected, "The connection to the room is lost."))
            }
        }

        func close() async { outgoing.finish() }

        private static func connect(port: Int, room: String) async throws -> WebSocket {
            let upgraded: EventLoopFuture<WebSocket?> = try await ClientBootstrap(
                group: MultiThreadedEventLoopGroup.singleton
            ).connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let upgrader = NIOTypedWebSocketClientUpgrader<WebSocket?>(
                        upgradePipelineHandler: { channel, _ in
                            channel.eventLoop.makeCompletedFuture {
                                try WebSocket(wrappingChannelSynchronously: channel)
                            }
                        })
                    let head = HTTPRequestHead(
                        version: .http1_1, method: .GET, uri: room,
                        headers: ["host": "127.0.0.1:\(port)", "content-length": "0"])
                    let upgrade = NIOTypedHTTPClientUpgradeConfiguration<WebSocket?>(
                        upgradeRequestHead: head, upgraders: [upgrader],
                        notUpgradingCompletionHandler: { $0.eventLoop.makeSucceededFuture(nil) })
                    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                        configuration: .init(upgradeConfiguration: upgrade))
                }
            }
            guard let socket = try await upgraded.get() else {
                throw InletError(.malformedData, "The server at port \(port) speaks no WebSocket.")
            }
            return socket
        }
    }
#endif
