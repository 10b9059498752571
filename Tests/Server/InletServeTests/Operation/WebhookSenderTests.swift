import InletCore
import Logging
import NIOCore
import NIOPosix
import ReferenceTools
import Testing

@testable import InletServe

/// A sender at the daemon's end, and the connections of an exchange.
@Suite(.tags(.server), .fewDaemons, .takes(atMostMinutes: 2)) struct WebhookSenderTests {
    @Test("An event that waits for a retry is sent once more at the end")
    func end() async throws {
        let server = try PeerProcess("webhook-server.py", ["--status", "503"])
        let address = try WebhookAddress("http://127.0.0.1:\(try #require(server.ready["port"]?.int))/")
        let sender = WebhookSender(
            name: "pager", WebhookSettings(address: address), firstPause: .seconds(3600), logger: Logger(label: "test"))
        sender.offer(WebhookMessage(CameraSetEvent("state", "paused", camera: "door"), time: 0))
        func count() throws -> Int {
            guard case .list(let list)? = try server.send("report")["requests"] else { return 0 }
            return list.count
        }
        try await Waiting.until("the first request", progress: count) { try count() == 1 }
        await sender.finish()
        #expect(try count() == 2)
        #expect((sender.figures.delivered, sender.figures.failed, sender.figures.waiting) == (1, 0, 0))
    }

    @Test("An exchange closes every connection that it tries, and forgets the closed ones")
    func connections() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let exchange = StatusExchange()
        var channels: [any Channel] = []
        for _ in 0..<3 {
            let channel = try await ClientBootstrap(group: group).connect(to: address).get()
            channels.append(channel)
            exchange.note(channel)
        }
        #expect(exchange.openCount == 3)
        try await channels[0].close()
        try await Waiting.until("one less", progress: { 0 }) { exchange.openCount == 2 }
        exchange.end(.failure(InletError(.timedOut, "The server did not answer in time.")))
        for channel in channels { try await channel.closeFuture.get() }
        let late = try await ClientBootstrap(group: group).connect(to: address).get()
        exchange.note(late)
        try await late.closeFuture.get()
        #expect(exchange.openCount == 0)
        try await server.close()
    }
}
