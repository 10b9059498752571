import Foundation
import Inlet
import ReferenceTools
import Testing

/// Checks what a server receives of an address and its secrets, in each form, and that no secret is written anywhere.
@Suite(.tags(.server), .fewAtATime, .enabled(if: AddressServer.missing == nil, "\(AddressServer.missing ?? "")"))
struct AddressTests {
    /// A run against a server, and what the server is expected to log.
    struct Case: Sendable, CustomTestStringConvertible {
        var kind: AddressServer.Kind
        /// `PORT` is replaced by the server's port, `SECRET(NAME)` by an option NAME in one of its forms.
        var uri: String
        var isSink: Bool
        /// The option's value. The server sees it.
        var secret: String
        var noted: String
        /// Whether this needs the trait GStreamer.
        var needsWebRTC = false

        var testDescription: String { uri }
    }

    private static let secret = "hunter2+%41&x=1?y"

    static let cases = [
        Case(
            kind: .text, uri: "rtsp://127.0.0.1:PORT/a%2Fb?x=%2B+{&main&user=me&SECRET(password)", isSink: false,
            secret: secret,
            noted: "DESCRIBE rtsp://127.0.0.1:PORT/a%2Fb?x=%2B+{&main RTSP/1.0 me:hunter2+%41&x=1?y"),
        Case(
            kind: .text, uri: "http://me@127.0.0.1:PORT/a%2Fb?x=%2B+{&main&SECRET(password)", isSink: false,
            secret: secret,
            noted: "GET /a%2Fb?x=%2B+%7B&main HTTP/1.1 me:hunter2+%41&x=1?y"),
        Case(
            kind: .text, uri: "http://me:a@127.0.0.1:PORT/v?x=%2B&SECRET(query.jwt)", isSink: false, secret: secret,
            noted: "GET /v?x=%2B&jwt=hunter2%2B%2541%26x%3D1%3Fy HTTP/1.1 me:a"),
        Case(
            kind: .text,
            uri: "rtsp://127.0.0.1:PORT/a%2Fb?x=%2B+{&y=%20&query.user=v&user=me&SECRET(password)&transport=tcp",
            isSink: true,
            secret: secret,
            noted: "ANNOUNCE rtsp://127.0.0.1:PORT/a%2Fb?x=%2B+{&y=%20&user=v RTSP/1.0 me:hunter2+%41&x=1?y"),
        Case(
            kind: .rtmp, uri: "rtmp://127.0.0.1:PORT/live/stream?x=%2B+{&y=%20&gop=1s&SECRET(query.sign)", isSink: true,
            secret: secret,
            noted: "stream?x=%2B+{&y=%20&sign=hunter2%2B%2541%26x%3D1%3Fy"),
        Case(
            kind: .rtmp, uri: "rtmp://127.0.0.1:PORT/live?SECRET(key)&x=%2B", isSink: true, secret: secret,
            noted: "hunter2+%41&x=1?y&x=%2B"),
        Case(
            kind: .rtmpWithPassword("hunter2+%41@:"), uri: "rtmp://127.0.0.1:PORT/live/x?user=me&SECRET(password)",
            isSink: true,
            secret: "hunter2+%41@:", noted: "user me, password right"),
        Case(
            kind: .rtmpWithPassword("hunter2+%41@:"), uri: "rtmp://me@127.0.0.1:PORT/live/x?SECRET(password)",
            isSink: false,
            secret: "hunter2+%41@:", noted: "user me, password right"),
        Case(
            kind: .srt(passphrase: ""), uri: "srt://127.0.0.1:PORT?SECRET(streamid)&mode=caller", isSink: true,
            secret: "#!::r=a+b,u=é&?%41 hunter2", noted: "#!::r=a+b,u=é&?%41 hunter2"),
        Case(
            kind: .srt(passphrase: "hunter2 +%41&="), uri: "srt://127.0.0.1:PORT?streamid=%23a%2Bb&SECRET(passphrase)",
            isSink: true,
            secret: "hunter2 +%41&=", noted: "#a+b"),
        Case(
            kind: .srt(passphrase: ""), uri: "srt://127.0.0.1:PORT?SECRET(streamid)", isSink: false,
            secret: "#!::u=hunter2",
            noted: "#!::u=hunter2"),
        Case(
            kind: .text, uri: "whip+http://127.0.0.1:PORT/a%2Fb?x=%2B+&y=%20&SECRET(token)", isSink: true,
            secret: "hunter2+%41&x=1?y",
            noted: "POST /a%2Fb?x=%2B+&y=%20 HTTP/1.1 hunter2+%41&x=1?y", needsWebRTC: true),
        Case(
            kind: .text, uri: "whip+http://127.0.0.1:PORT/v?x={%2B&token=any&SECRET(query.room)", isSink: true,
            secret: secret,
            noted: "POST /v?x=%7B%2B&room=hunter2%2B%2541%26x%3D1%3Fy HTTP/1.1 any", needsWebRTC: true),
    ].filter { !$0.needsWebRTC || hasWebRTC }

    private static var hasWebRTC: Bool {
        PluginRegistry.standard.sinks.contains { $0.info.schemes.contains("whip+http") && !$0.info.options.isEmpty }
    }

    @Test(
        "An address reaches its server byte for byte with its secret in any form, and no output holds the secret",
        arguments: cases)
    func reaches(_ expected: Case) async throws {
        let folder = try TemporaryFolder()
        try Data("\(expected.secret)\r\n".utf8).write(to: URL(fileURLWithPath: folder.path("secret")))
        let escaped = PercentEncoding.encode(expected.secret)
        for form in ["=\(escaped)", "-file=\(folder.path("secret"))", "-env=INLET_TEST_SECRET"] {
            let server = try AddressServer(expected.kind)
            func located(_ text: String) -> String { text.replacingOccurrences(of: "PORT", with: "\(server.port)") }
            let uri = located(expected.uri).replacing(#/SECRET\(([^)]*)\)/#) { "\($0.output.1)\(form)" }
            // A run ends when the server refuses it. If the server refuses nothing, the run ends when the server has
            // logged what it should, however long that takes on a busy machine.
            let isRefused =
                switch expected.kind {
                case .text, .rtmpWithPassword: true
                case .rtmp, .srt: false
                }
            let limit = uri.hasPrefix("whip") ? "" : "&connect-timeout=60s"
            let media =
                expected.isSink
                ? ["pattern:ball?size=320x240&fps=30", "--to", uri + limit]
                : [uri, "--retry", "never", "--timeout", "60"]
            let sendsMedia = if case .srt = expected.kind { expected.isSink } else { false }
            func seen() throws -> [Int] {
                [try server.lines().count { $0 == located(expected.noted) }, sendsMedia ? try server.bytes() : 0]
            }
            let trace = folder.path("trace")
            var written = ""
            for report in expected.isSink || !form.hasPrefix("=") ? ["json"] : ["json", "text", "none"] {
                let before = try seen()
                let inlet = try await InletProcess.run(
                    ["run"] + media + ["--report", report, "--trace", trace],
                    environment: ["INLET_TEST_SECRET": expected.secret], until: "the note", progress: seen
                ) {
                    let now = try seen()
                    return !isRefused && now[0] > before[0] && (!sendsMedia || now[1] > before[1] + 1000)
                }
                written +=
                    try inlet.complaints + String(decoding: inlet.output, as: UTF8.self)
                    + String(contentsOfFile: trace, encoding: .utf8)
            }
            let lines = try server.lines()
            #expect(lines.contains(located(expected.noted)), "\(lines) \(written)")
            if sendsMedia { #expect(try server.bytes() > 1000) }
            for part in [expected.secret, escaped, "hunter2", Data("me:\(expected.secret)".utf8).base64EncodedString()]
            {
                #expect(!written.contains(part), "\(written)")
            }
        }
    }

    @Test("The command's error for a line that it cannot read holds no secret")
    func mistyped() throws {
        let uri = "rtsp://admin:hunter2@host/x?jwt=hunter2"
        for (arguments, status) in [
            (["run", "pattern:", uri], 64), (["run", "--too", uri, "pattern:"], 64),
            (["run", "pattern:", "--queue", uri], 64),
            (["run", "pattern:", "--to", "preview:?tokn=hunter2"], 64), (["run", "prevew:?token=hunter2"], 64),
            (["run", "\(uri)&password=hunter2&hunter2"], 64), (["snapshot", uri, uri], 64),
            (["controls", "\(uri)&user=a"], 64),
            (["run", "rtsp://host/x?user=a&password=hunter2&latency=x"], 64),
            (["probe", "\(uri)&password-env=A&password=hunter2"], 64),
            (["run", "pattern:", "--to", "preview:0.0.0.0:1?token=hunter2"], 64),
        ] as [([String], Int32)] {
            let inlet = try InletProcess.run(arguments)
            let said = inlet.complaints + String(decoding: inlet.output, as: UTF8.self)
            #expect(inlet.status == status, "\(arguments) \(said)")
            #expect(!said.isEmpty && !said.contains("hunter2"), "\(arguments) \(said)")
        }
    }

    @Test("The metrics page, the report and the log of a run with secrets everywhere hold none of them")
    func figures() async throws {
        let folder = try TemporaryFolder()
        let (trace, log) = (folder.path("trace"), folder.path("log"))
        let port = try FreePort.find()
        var sinks = [
            "preview:127.0.0.1:\(port)?token-env=TOKEN", "rtmp://127.0.0.1:1/live?key=hunter2",
            "srt://127.0.0.1:1?streamid=hunter2",
            "rtsp://me:hunter2@127.0.0.1:1/x?jwt=hunter2", "exec:false --password hunter2 'http://h/%3Fa=hunter2'",
        ]
        if Self.hasWebRTC {
            sinks += [
                "webrtc:127.0.0.1:0?token=hunter2-hunter2&turn=127.0.0.1:1&turn-secret=hunter2",
                "whip+http://127.0.0.1:1/a?token=hunter2&b=hunter2",
            ]
        }
        // The page's token differs from the secrets, because it must be sent to the page.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: InletProcess.path)
        process.arguments =
            [
                "run", "pattern:ball?size=320x240&fps=30", "--duration", "120", "--trace", trace, "--report", "json",
                "--sink-retry", "forever",
            ]
            + sinks.flatMap { ["--to", $0] }
        process.environment = ProcessInfo.processInfo.environment.merging(["TOKEN": "let-me-look"]) { $1 }
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: log)
        process.standardOutput = process.standardError
        try process.run()
        var pages = ""
        // The page is read for six seconds, in which the sinks that cannot work fail. A busy machine may take longer,
        // within the time of the run.
        var end: ContinuousClock.Instant?
        func isSeen() -> Bool { pages.contains("inlet_sink") && pages.contains("rtmp://127.0.0.1:1/live/***") }
        while process.isRunning, end.map({ .now < $0 || !isSeen() }) ?? true {
            for page in ["metrics", "stats.json", "healthz", ""] {
                let answer = try? await ReferenceCommand.runAside(
                    "curl",
                    ["-s", "-m", "2", "-H", "Authorization: Bearer let-me-look", "http://127.0.0.1:\(port)/\(page)"])
                pages += answer.map { String(decoding: $0, as: UTF8.self) } ?? ""
            }
            if end == nil, !pages.isEmpty { end = .now + .seconds(6) }
            try await Task.sleep(for: .milliseconds(300))
        }
        process.interrupt()
        process.waitUntilExit()
        #expect(isSeen(), "\(pages.suffix(2000))")
        let written = try String(contentsOfFile: log, encoding: .utf8) + String(contentsOfFile: trace, encoding: .utf8)
        #expect(written.contains("rtmp://127.0.0.1:1/live/***"))
        for text in [pages, written] {
            #expect(!text.contains("hunter2") && !text.contains("let-me-look"), "\(text.suffix(4000))")
        }
    }
}
