import InletCore
import InletTLS
import ReferenceTools
import Testing

@testable import InletWebSocket

/// Tests of a client with aiohttp, and with a server that misbehaves.
@Suite(.tags(.server), .serialized)
struct WebSocketClientTests {
    private static func configuration(_ address: String) throws -> WebSocketConfiguration {
        var configuration = WebSocketConfiguration(address: try WebSocketAddress(address))
        configuration.mostMessageBytes = 100_000
        // A server reads late on a busy machine.
        (configuration.connectLimit, configuration.openingLimit) = (.seconds(60), .seconds(60))
        configuration.sendLimit = .seconds(60)
        return configuration
    }

    private static func failure(_ configuration: WebSocketConfiguration) async -> InletError? {
        do {
            let client = try await WebSocketClient.connect(configuration)
            while try await client.next() != nil {}
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Messages of all sizes are exchanged with aiohttp, also over TLS, and both sides close",
        arguments: [false, true])
    func echo(isSecure: Bool) async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        var configuration = try Self.configuration((isSecure ? server.secureAddress : server.address) + "/echo")
        configuration.tls.authorities = server.authority
        configuration.subprotocols = ["first", "second"]
        configuration.mostMessageBytes = 1 << 20
        let client = try await WebSocketClient.connect(configuration)
        #expect(client.subprotocol == "first")
        let messages: [WebSocketMessage] =
            [.text(""), .binary([]), .text("größe \u{1F600}")]
            + [1, 125, 126, 65_535, 65_536, 1 << 20].map {
                .binary((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            }
        for message in messages {
            try await client.send(message)
            #expect(try await client.next() == message)
        }
        await client.close(code: 4001, reason: "done")
        #expect(try await client.next() == nil)
        // aiohttp answers 1000 to every code.
        #expect(client.closing?.code == 1000)
        // The server may record the code after it has answered.
        try await Waiting.until("the code", progress: { 0 }) { try server.process.send("seen")["code"] != nil }
        #expect(try server.process.send("seen")["code"]?.int == 4001)
        let error = await #expect(throws: InletError.self) { try await client.send(.text("late")) }
        #expect(error?.code == .disconnected)
    }

    @Test("Nothing is lost, and memory stays bounded, if messages arrive faster than they are read")
    func backpressure() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        var configuration = try Self.configuration(server.address + "/many?count=5000&size=2000")
        (configuration.mostUnreadMessages, configuration.pingInterval) = (4, .milliseconds(20))
        configuration.silenceLimit = .seconds(60)
        let client = try await WebSocketClient.connect(configuration)
        for number in 0..<5000 {
            guard case .text(let text)? = try await client.next() else {
                Issue.record("message \(number) is missing: \(String(describing: client.closing))")
                return
            }
            #expect(text.hasPrefix("\(number):"))
        }
        #expect(try await client.next() == nil)
        #expect(client.closing?.code == 1000)
    }

    @Test("The server's close reason is reported, and headers reach the server")
    func closing() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        let closed = try await WebSocketClient.connect(
            try Self.configuration(server.address + "/close?code=4321&reason=enough"))
        #expect(try await closed.next() == nil)
        #expect(closed.closing == WebSocketClosing(code: 4321, reason: "enough"))
        var configuration = try Self.configuration(server.address + "/headers")
        configuration.headers = [.init("Authorization", "Bearer x"), .init("X-Odd", "a\tb")]
        let client = try await WebSocketClient.connect(configuration)
        guard case .text(let text)? = try await client.next() else {
            Issue.record("no headers")
            return
        }
        #expect(text.contains("\"authorization\": \"Bearer x\""))
        configuration.headers = [.init("X-Odd", "a\r\nInjected: b")]
        #expect(await Self.failure(configuration)?.code == .invalidConfiguration)
    }

    @Test(
        "A status other than 101 gives a specific error with the server's text",
        arguments: [
            (401, InletError.Code.authenticationFailed), (403, .authenticationFailed), (404, .notFound),
            (429, .serverUnavailable), (500, .serverUnavailable), (503, .serverUnavailable), (302, .addressRefused),
            (200, .unsupported), (400, .unsupported),
        ])
    func statuses(_ status: Int, _ code: InletError.Code) async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        let error = await Self.failure(try Self.configuration(server.address + "/status/\(status)?token=hidden"))
        #expect(error?.code == code)
        #expect((error?.cause as? HTTPRefusal)?.status == status)
        #expect(error?.message.contains("told by the server") == true)
        #expect(error?.message.contains("\(status)") == true)
        #expect(error?.retryAfter == ([429, 503].contains(status) ? .seconds(7) : nil))
        #expect(error?.description.contains("hidden") == false)
    }

    @Test("The certificate's authority and name are checked; an absent or silent server is an error")
    func refusals() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        #expect(await Self.failure(try Self.configuration(server.secureAddress + "/echo"))?.code == .tlsFailed)
        var elsewhere = try Self.configuration(server.elsewhereAddress + "/echo")
        elsewhere.tls.authorities = server.otherAuthority
        let mismatch = await Self.failure(elsewhere)
        #expect(mismatch?.code == .tlsFailed)
        #expect(mismatch?.message.contains("mismatch") == true, "\(mismatch?.message ?? "")")
        #expect(mismatch?.message.contains("Connect by a name or address that the certificate is for") == true)
        elsewhere.tls.authorities = "/dev/null"
        let nothing = await Self.failure(elsewhere)
        #expect(nothing?.code == .invalidConfiguration)
        #expect(nothing?.message.contains("Set tls-ca to a PEM file") == true, "\(nothing?.message ?? "")")
        let plain = "wss://127.0.0.1:" + (server.address.split(separator: ":").last ?? "")
        #expect(await Self.failure(try Self.configuration(plain + "/echo"))?.code == .tlsFailed)
        var silent = try Self.configuration(server.address + "/silent")
        silent.openingLimit = .milliseconds(300)
        #expect(await Self.failure(silent)?.code == .timedOut)
        let unknown = try Self.configuration("ws://nowhere.invalid/")
        #expect(await Self.failure(unknown)?.code == .hostNotFound)
        server.stop()
        #expect(await Self.failure(try Self.configuration(server.address + "/echo"))?.code == .connectionRefused)
    }

    @Test("Connecting and reading can be cancelled, and reading can continue afterwards")
    func cancelled() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        let silent = try Self.configuration(server.address + "/silent")
        let connecting = Task { await Self.failure(silent) }
        connecting.cancel()
        #expect(await connecting.value?.code == .cancelled)
        let client = try await WebSocketClient.connect(try Self.configuration(server.address + "/echo"))
        let reading = Task { () async throws(InletError) -> WebSocketMessage? in try await client.next() }
        reading.cancel()
        let error = await #expect(throws: InletError.self) { try await reading.value }
        #expect(error?.code == .cancelled)
        try await client.send(.text("after"))
        #expect(try await client.next() == .text("after"))
    }

    @Test("A protocol violation ends the connection with a readable error; nothing hangs or traps")
    func hostile() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        let broken = [
            "masked", "reserved-bit", "unknown-opcode", "unknown-control", "fragmented-control", "long-control",
            "bad-text", "surrogate-text", "half-code", "code-1005", "code-999", "bad-reason", "huge-frame",
            "negative-frame", "long-message", "many-fragments", "within-another", "continuation-first", "not-http",
            "endless-head", "no-upgrade", "wrong-accept", "no-colon", "extension", "other-protocol",
        ]
        for name in broken {
            let error = await Self.failure(try Self.configuration(server.rawAddress + "/" + name))
            #expect(error?.code == .malformedData, "\(name): \(String(describing: error))")
        }
        let seen = try server.process.send("seen")
        // FIN and the opcode of a close frame.
        #expect(seen["masked"]?.text == "88")
        #expect(seen["bad-text"]?.text == "88")
        #expect(await Self.failure(try Self.configuration(server.rawAddress + "/abrupt"))?.code == .disconnected)
        let refused = await Self.failure(try Self.configuration(server.rawAddress + "/body-without-end"))
        #expect((refused?.cause as? HTTPRefusal)?.status == 403)
        #expect(refused?.message.contains("no entry") == true)
    }

    @Test("A text in fragments within a character, one byte per packet and with pings in between, arrives complete")
    func split() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        let client = try await WebSocketClient.connect(try Self.configuration(server.rawAddress + "/split"))
        #expect(try await client.next() == .text("größe"))
        await client.close()
        // The answer to the ping came first.
        #expect(try server.process.send("seen")["split"]?.text == "8a")
    }

    @Test(
        "A server that answers no pings, or pings and never reads, counts as gone after the limit",
        arguments: ["no-pongs", "pings"])
    func liveness(_ name: String) async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        var configuration = try Self.configuration(server.rawAddress + "/" + name)
        (configuration.pingInterval, configuration.silenceLimit) = (.milliseconds(50), .milliseconds(300))
        #expect(await Self.failure(configuration)?.code == .timedOut)
    }

    @Test("Sending to a server that does not read fails instead of filling memory")
    func unread() async throws {
        let server = try WebSocketServer()
        defer { server.stop() }
        var configuration = try Self.configuration(server.rawAddress + "/no-pongs")
        (configuration.mostUnsentBytes, configuration.sendLimit) = (8 << 20, .seconds(5))
        configuration.silenceLimit = .seconds(60)
        let client = try await WebSocketClient.connect(configuration)
        @Sendable func send() async -> InletError.Code? {
            do {
                try await client.send(.binary([UInt8](repeating: 0, count: 1 << 20)))
                return nil
            } catch {
                return error.code
            }
        }
        var codes: Set<InletError.Code> = []
        await withTaskGroup(of: InletError.Code?.self) { group in
            for _ in 0..<40 { group.addTask { await send() } }
            for await code in group { if let code { codes.insert(code) } }
        }
        #expect(codes.contains(.resourceExhausted))
        #expect(codes.contains(.timedOut))
    }
}
