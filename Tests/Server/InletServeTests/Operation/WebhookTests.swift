import Foundation
import ReferenceTools
import Testing

/// Daemon events posted to Python servers, which verify the signatures themselves.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct WebhookTests {
    private static let secret = "shared-0123456789abcdefghij"

    private struct Request: Equatable {
        var identifier, type, text, camera: String
        var status: Int
        var isRight: Bool
        var authorization, path: String

        init?(_ value: PeerValue) {
            guard case .object(let members) = value else { return nil }
            func text(_ key: String) -> String { members[key]?.text ?? "" }
            (identifier, type, self.text) = (text("identifier"), text("type"), text("text"))
            camera = text("camera")
            (status, authorization, path) = (members["status"]?.int ?? 0, text("authorization"), text("path"))
            isRight = ["isSigned", "isNow", "isJSON"].allSatisfy { members[$0] == .bool(true) }
        }
    }

    private static func requests(of peer: PeerProcess) throws -> [Request] {
        guard case .list(let list)? = try peer.send("report")["requests"] else { return [] }
        return list.compactMap(Request.init)
    }

    /// Returns a metric of the daemon; nil if it is missing.
    private func metric(_ name: String, _ serve: ServeProcess, _ token: String) async throws -> Int? {
        let text = String(decoding: try await serve.ask("GET", "/metrics", token: token).body, as: UTF8.self)
        return text.split(separator: "\n").first { $0.hasPrefix("inlet_webhook_\(name) ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }

    /// Waits until a metric of the daemon reaches a value.
    private func wait(for name: String, _ least: Int, _ serve: ServeProcess) async throws {
        for _ in 0..<2000 {
            if let value = try await metric(name, serve, ServeProcess.admin), value >= least { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw ServeProcess.Failure(description: "\(name) did not become \(least). \(serve.complaints)")
    }

    @Test("A server that was down and then failed gets an event once, under one identifier, with a valid signature")
    func outage() async throws {
        let port = try FreePort.find()
        let serve = try await ServeProcess(
            """
            webhooks:
              pager:
                url: http://me:pa%2055word@127.0.0.1:\(port)/events?key=s3cret
                kinds: [state]
                cameras: [do*]
                secret: {env: HOOK_SECRET}
            cameras:
              door: {source: 'pattern:ball?size=64x64&fps=5', on-demand: true}
              yard: {source: 'pattern:ball?size=64x64&fps=5'}

            """, environment: ["HOOK_SECRET": Self.secret])
        #expect(try await serve.ask("POST", "/v1/cameras/door/pause").status == 204)
        try await wait(for: #"retries_total{webhook="pager"}"#, 1, serve)
        let server = try PeerProcess(
            "webhook-server.py", ["--port", "\(port)", "--secret", Self.secret, "--status", "503"])
        try await wait(for: #"events_delivered_total{webhook="pager"}"#, 1, serve)
        _ = try await serve.ask("POST", "/v1/cameras/yard/pause")
        try await Waiting.until("the pause", progress: { try Self.requests(of: server).count }) {
            try Self.requests(of: server).contains { $0.text == "paused" }
        }
        let requests = try Self.requests(of: server)
        #expect(requests.map(\.status) == [503] + requests.dropFirst().map { _ in 200 })
        // The same event twice, and every other one once.
        #expect(requests[0].identifier == requests[1].identifier && requests[0].text == requests[1].text)
        #expect(Set(requests.map(\.identifier)).count == requests.count - 1)
        #expect(
            requests.allSatisfy {
                $0.isRight && ($0.type, $0.camera) == ("state", "door") && $0.path == "/events?key=s3cret"
            })
        let basic = Data("me:pa 55word".utf8).base64EncodedString()
        #expect(requests.allSatisfy { $0.authorization == "Basic \(basic)" })
        #expect(await serve.end() == 0)
        for secret in ["pa 55word", "pa%2055word", "s3cret", Self.secret] {
            #expect(!serve.complaints.contains(secret))
        }
    }

    @Test("A hanging server does not affect another one, cameras or the API, and only its own drops are counted")
    func hang() async throws {
        let deaf = try PeerProcess("webhook-server.py", ["--hang"])
        let server = try PeerProcess("webhook-server.py", ["--tls", "--secret", Self.secret])
        let hooks = """
            webhooks:
              deaf: {url: 'http://127.0.0.1:\(try #require(deaf.ready["port"]?.int))/', queue: 1, timeout: 2m}
              good:
                url: {env: HOOK_URL}
                ca: \(try #require(server.ready["ca"]).text)
                secret: {env: HOOK_SECRET}

            """
        let serve = try await ServeProcess(
            "    few: {scope: view, cameras: [door], env: HOOK_TOKEN}\n" + hooks
                + "cameras:\n  door: pattern:ball?size=64x64&fps=5\n",
            environment: [
                "HOOK_SECRET": Self.secret, "HOOK_TOKEN": "few-0123456789abcdefghijklm",
                "HOOK_URL": "https://127.0.0.1:\(try #require(server.ready["port"]?.int))/x",
            ])
        for action in ["pause", "resume", "restart"] {
            #expect(try await serve.ask("POST", "/v1/cameras/door/\(action)").status == 204)
        }
        _ = try await serve.camera("door") { $0.state == "live" && $0.captured > 5 }
        try await wait(for: #"events_dropped_total{webhook="deaf"}"#, 2, serve)
        try await wait(for: #"events_delivered_total{webhook="good"}"#, 4, serve)
        #expect(try await metric(#"events_delivered_total{webhook="deaf"}"#, serve, ServeProcess.admin) == 0)
        #expect(try await metric(#"events_dropped_total{webhook="good"}"#, serve, ServeProcess.admin) == 0)
        // Webhooks are for all cameras: a token for some does not see them.
        #expect(
            try await metric(#"events_delivered_total{webhook="good"}"#, serve, "few-0123456789abcdefghijklm") == nil)
        let requests = try Self.requests(of: server)
        #expect(requests.count >= 4 && requests.allSatisfy { $0.isRight && $0.authorization == "null" })
        #expect(Set(requests.map(\.identifier)).count == requests.count)
        // Events are sent one at a time, so that one that is not answered stays the only one.
        try await Waiting.until("the request", progress: { 0 }) { try Self.requests(of: deaf).count == 1 }
        #expect(try Self.requests(of: deaf).count == 1)
        #expect(await serve.end() == 0)
    }
}
