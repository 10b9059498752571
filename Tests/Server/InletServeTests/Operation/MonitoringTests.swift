import Foundation
import ReferenceTools
import Testing

/// The files for Prometheus and Grafana in `Packaging/monitoring`.
@Suite(.tags(.daemon, .server), .fewDaemons, .takes(atMostMinutes: 2)) struct MonitoringTests {
    private static let folder = BuiltProgram.package.appendingPathComponent("Packaging/monitoring")

    @Test("promtool accepts the alert rules, and each fires when it should and not otherwise")
    func rules() async throws {
        for (command, file) in [("check", "inlet.rules.yml"), ("test", "inlet.rules.test.yml")] {
            let path = Self.folder.appendingPathComponent(file).path
            let output = try await ReferenceCommand.runAside("promtool", [command, "rules", path])
            #expect(String(decoding: output, as: UTF8.self).contains("SUCCESS"))
        }
    }

    /// The names of metrics in a text.
    private static func names(in text: some StringProtocol) -> Set<String> {
        Set(String(text).matches(of: /inlet_[a-z0-9_]+/).map { String($0.output) })
    }

    @Test("Each metric of the dashboard and the rules is exported by inlet serve, and promtool accepts the export")
    func metrics() async throws {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Target: Decodable { var expr: String }
                struct Place: Decodable { var x, y, w, h: Int }
                var id: Int
                var title: String
                var gridPos: Place
                var targets: [Target]
            }
            var panels: [Panel]
        }
        let text = try Data(contentsOf: Self.folder.appendingPathComponent("grafana-dashboard.json"))
        let panels = try JSONDecoder().decode(Dashboard.self, from: text).panels
        #expect(Set(panels.map(\.id)).count == panels.count && panels.allSatisfy { $0.gridPos.x + $0.gridPos.w <= 24 })
        // promtool reads expressions as rules; the dashboard's variables are not part of the language.
        let queries = panels.flatMap(\.targets).map {
            $0.expr.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*")
                .replacing("$camera", with: ".*")
        }
        let rules = queries.enumerated().map { ["record": "q:\($0)", "expr": $1] }
        let folder = try TemporaryFolder()
        let groups = ["groups": [["name": "dashboard", "rules": rules] as [String: Any]]]
        try JSONSerialization.data(withJSONObject: groups, options: .withoutEscapingSlashes)
            .write(to: URL(fileURLWithPath: folder.path("queries.yml")))
        _ = try await ReferenceCommand.runAside("promtool", ["check", "rules", folder.path("queries.yml")])
        let alerts = try String(contentsOf: Self.folder.appendingPathComponent("inlet.rules.yml"), encoding: .utf8)
        let wanted = Self.names(in: queries.joined(separator: "\n")).union(Self.names(in: alerts))
        #expect(wanted.count > 15)

        // A camera that loses packets, an unreachable one, and a sink that drops frames.
        let server = try RTSPServer.live()
        let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 3, faults: [.loss(percent: 10)])
        let serve = try await ServeProcess(
            """
            cameras:
              lossy:
                source: \(proxy.url(server.url))?transport=udp&threads=1
                sinks:
                  - jpeg:{camera}-{n}.jpg?every=1s
              absent: rtsp://127.0.0.1:1/x
              drawn:
                source: pattern:timecode?size=320x180&fps=20
                sinks: ['null:']

            """)
        // Some metrics exist once something was lost.
        let body = try await ServeProcess.last {
            try await serve.ask("GET", "/metrics", token: ServeProcess.viewer).body
        } until: {
            wanted.isSubset(of: Self.names(in: String(decoding: $0, as: UTF8.self)))
        }
        let given = Self.names(in: String(decoding: body, as: UTF8.self))
        // The document names all of them.
        let document = try String(
            contentsOf: BuiltProgram.package.appendingPathComponent("Docs/reference/metrics.md"), encoding: .utf8)
        let told = Self.names(in: document)
        #expect(Set(given.map { $0.replacing(/(_sum|_count)$/, with: "") }).subtracting(told) == [])
        #expect(wanted.subtracting(given) == [], "\(serve.complaints)")
        let file = folder.path("metrics")
        try body.write(to: URL(fileURLWithPath: file))
        let complaints = try await ReferenceCommand.runAside(
            "bash", ["-c", "promtool check metrics < '\(file)' 2>&1 || true"])
        #expect(!String(decoding: complaints, as: UTF8.self).contains("error"))
        #expect(await serve.end() == 0)
    }
}
