#if WebRTC
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOWebSocket

    typealias WebSocket = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// A server of WebSockets on 127.0.0.1: the path is the room.
    struct RoomServer {
        private enum Connection {
            case member(WebSocket, room: String)
            case other
        }

        private let rooms = Rooms()
        private let listener: NIOAsyncChannel<EventLoopFuture<Connection>, Never>
        var port: Int { listener.channel.localAddress?.port ?? 0 }

        init() async throws {
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let upgrader = NIOTypedWebSocketServerUpgrader<Connection>(
                            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
                            upgradePipelineHandler: { channel, head in
                                channel.eventLoop.makeCompletedFuture {
                                    .member(try WebSocket(wrappingChannelSynchronously: channel), room: head.uri)
                                }
                            })
                        let upgrade = NIOTypedHTTPServerUpgradeConfiguration(
                            upgraders: [upgrader],
                            notUpgradingCompletionHandler: { channel in
                                channel.close(promise: nil)
                                return channel.eventLoop.makeSucceededFuture(Connection.other)
                            })
                        return try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                            configuration: .init(upgradeConfiguration: upgrade))
                    }
                }
        }

        /// Serves until the task is cancelled.
        func run() async throws {
            try await withThrowingDiscardingTaskGroup { group in
                try await listener.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask { try? await serve(connection) }
                    }
                }
            }
        }

        private func serve(_ connection: EventLoopFuture<Connection>) async throws {
            guard case .member(let socket, let name) = try await connection.get() else { return }
            let room = await rooms.room(name)
            let (member, heard) = await room.join()
            try? await socket.talk(saying: heard, masked: false) { await room.say($0, by: member) }
            await room.leave(member)
        }
    }

    extension NIOAsyncChannel where Inbound == WebSocketFrame, Outbound == WebSocketFrame {
        /// Sends what a stream yields and hears texts, until either ends.
        ///
        /// - Parameter masked: clients mask what they send, servers do not (RFC 6455, 5.3).
        func talk(
            saying texts: AsyncStream<String>, masked: Bool, hear: @escaping @Sendable (String) async -> Void
        ) async throws {
            try await executeThenClose { inbound, outbound in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for await text in texts {
                            try await outbound.write(
                                WebSocketFrame(
                                    fin: true, opcode: .text, maskKey: masked ? .random() : nil,
                                    data: ByteBuffer(string: text)))
                        }
                    }
                    group.addTask {
                        for try await frame in inbound {
                            if frame.opcode == .connectionClose { return }
                            if frame.opcode == .text { await hear(String(buffer: frame.unmaskedData)) }
                        }
                    }
                    try await group.next()
                    group.cancelAll()
                }
            }
        }
    }
#endif
