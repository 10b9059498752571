import Dispatch
import InletCore
package import InletRTC
import InletSystem
import NIOCore
import NIOPosix
import Synchronization

/// Chooses one of several STUN servers for an ICE agent that asks only one, such as libnice: all are asked at once,
/// and the first that answers is chosen. Safe from any thread.
package final class STUNChoice: Sendable {
    private let last = Mutex(Choice?.none)

    private struct Choice {
        var servers: [ICEServer]
        var chosen: ICEServer
        var time: MonotonicTime
    }

    /// How long an answer may take, which is three requests.
    private static let limit = Duration.seconds(1)
    /// The interval of requests to a server.
    private static let interval = TimeAmount.milliseconds(300)
    /// How long a choice is kept, so that a crowd of viewers does not cause requests to all servers for each
    /// viewer.
    private static let lifetime = Duration.seconds(10)

    package init() {}

    /// Returns the servers with at most one STUN server. If there are several, it waits until one answers, for a
    /// second at most; so it must not be called from an event loop or a task.
    ///
    /// If none answers, the first stays.
    package func reduced(_ servers: [ICEServer]) -> [ICEServer] {
        let all = servers.filter { $0.scheme == .stun }
        guard all.count > 1 else { return servers }
        return [choose(all)] + servers.filter { $0.scheme != .stun }
    }

    private func choose(_ servers: [ICEServer]) -> ICEServer {
        let now = MonotonicTime.now
        if let last = last.withLock({ $0 }), last.servers == servers, now - last.time < Self.lifetime {
            return last.chosen
        }
        let answer = Answer()
        for server in servers {
            // The name service has its own limits, and may be slow for one of them.
            DispatchQueue.global().async {
                guard let address = try? SocketAddress.makeAddressResolvingHost(server.host, port: server.port)
                else { return }
                Self.ask(address, answer)
            }
        }
        // The lack of an answer is kept, too.
        let chosen = answer.wait(Self.limit) ?? servers[0]
        last.withLock { $0 = Choice(servers: servers, chosen: chosen, time: now) }
        return chosen
    }

    private static func ask(_ address: SocketAddress, _ answer: Answer) {
        let host = if case .v6 = address { "::" } else { "0.0.0.0" }
        DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Asking(address, answer))
                }
            }
            .bind(host: host, port: 0)
            .whenComplete { _ in }
    }

    /// The first server that answers, as a number, so that the agent asks the same server.
    private final class Answer: Sendable {
        private let found = Mutex(ICEServer?.none)
        private let isDone = DispatchSemaphore(value: 0)

        var isKnown: Bool { found.withLock { $0 != nil } }

        func give(_ address: SocketAddress) {
            guard let host = address.ipAddress, let port = address.port,
                let server = try? ICEServer(
                    "stun:\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)")
            else { return }
            let isFirst = found.withLock { found in
                guard found == nil else { return false }
                found = server
                return true
            }
            if isFirst { isDone.signal() }
        }

        func wait(_ limit: Duration) -> ICEServer? {
            _ = isDone.wait(timeout: .now() + .nanoseconds(Int(limit.wholeNanoseconds)))
            return found.withLock { $0 }
        }
    }

    /// Asks one server until it, or another, has answered. Confined to the channel's event loop.
    private final class Asking: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>
        private let binding = STUNBinding()
        private let address: SocketAddress
        private let answer: Answer
        private var requests = 0
        private static let mostRequests = 3

        init(_ address: SocketAddress, _ answer: Answer) {
            self.address = address
            self.answer = answer
        }

        func channelActive(context: ChannelHandlerContext) { ask(context) }

        private func ask(_ context: ChannelHandlerContext) {
            // Each server is asked once, however soon another answers.
            guard requests < Self.mostRequests, requests == 0 || !answer.isKnown else {
                return context.close(promise: nil)
            }
            requests += 1
            let envelope = AddressedEnvelope(
                remoteAddress: address, data: ByteBuffer(bytes: binding.request))
            context.writeAndFlush(wrapOutboundOut(envelope), promise: nil)
            context.eventLoop.assumeIsolated().scheduleTask(in: STUNChoice.interval) { self.ask(context) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data).data
            guard binding.isAnswered(by: Array(buffer.readableBytesView)) else { return }
            answer.give(address)
            context.close(promise: nil)
        }

        // An unreachable port is reported as an error; the server may still come.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }
}
