import Foundation
import Inlet
import ReferenceTools
import Testing

/// The local files and variables that URIs may read, with and without the caller's permission.
@Suite struct LocalAccessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func password(_ option: String, in registry: PluginRegistry) throws -> String? {
        let escaped = option.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
        return (try registry.source("rtsp://me@host/x?\(escaped)") as? RTSPConfiguration)?.password
    }

    private func write(_ name: String, _ content: String) throws -> String {
        try Data(content.utf8).write(to: URL(fileURLWithPath: folder.path(name)))
        return folder.path(name)
    }

    @Test("The system's files and variables are read if that is enabled, through links too")
    func reads() throws {
        let file = try write("secret file", "p@ss word\r\n")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: file)
        #expect(try password("password-file=\(file)", in: .trusting) == "p@ss word")
        #expect(try password("password-file=\(folder.path("link"))", in: .trusting) == "p@ss word")
        let home = try #require(ProcessInfo.processInfo.environment["PATH"])
        #expect(try password("password-env=PATH", in: .trusting) == home)
    }

    @Test("Anything but a regular file is refused at once, even a pipe without a writer")
    func refusesKinds() throws {
        #expect(unsafe mkfifo(folder.path("pipe"), 0o600) == 0)
        for path in [folder.path("pipe"), folder.path(""), "/dev/zero", "/dev/null"] {
            let error = #expect(throws: InletError.self) { try password("password-file=\(path)", in: .trusting) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("not a regular file") == true, "\(error?.message ?? "")")
        }
    }

    @Test("A missing, endless or too large secret file is refused with a clear message that does not quote it")
    func refusesContent() throws {
        let long = try write("long", String(repeating: "x", count: LocalAccess.longestSecret + 1))
        let largest = try write("largest", String(repeating: "x", count: LocalAccess.longestSecret))
        #expect(try password("password-file=\(largest)", in: .trusting)?.utf8.count == LocalAccess.longestSecret)
        for (path, code, words) in [
            (folder.path("none"), .notFound, "There is no file"), (long, .invalidConfiguration, "too long"),
            ("\(largest)/x", .notFound, "There is no file"), ("/etc/passwd", .invalidConfiguration, "not one line"),
            ("/proc/self/environ", .invalidConfiguration, "not one line"), ("", .invalidConfiguration, "is missing"),
        ] as [(String, InletError.Code, String)] {
            let error = #expect(throws: InletError.self) { try password("password-file=\(path)", in: .trusting) }
            #expect(error?.code == code)
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("root:") == false)
        }
    }

    @Test("The text of a configuration shows no secret")
    func text() throws {
        let source = try PluginRegistry.standard.source("srt://h:1?passphrase=hunter2hunter2&streamid=hunter2")
        for uri in [
            "preview:?token=hunter2hunter2", "rtsp://h/x?user=a&password=hunter2", "srt://h:1?streamid=hunter2",
        ] {
            let sink = try PluginRegistry.standard.sink(uri)
            for text in ["\(source)", "\(sink)", String(reflecting: source), String(reflecting: sink)] {
                #expect(!text.contains("hunter2"))
            }
        }
    }

    /// URI options that could make a file or a variable be read.
    static let reaching = [
        "user=x&password-file=/etc/passwd", "user=x&password-env=HOME", "tls-ca=/etc/passwd",
        "query.a-file=/etc/passwd",
        "query.a-env=HOME", "ffmpeg.ca_file=/etc/passwd", "ffmpeg.cert_file=/etc/passwd", "ffmpeg.key_file=/etc/passwd",
        "ffmpeg.cookies=a", "ffmpeg.protocol_whitelist=file",
    ]

    @Test(
        "With the library's default registry no URI option reads a file or the environment", arguments: reaching)
    func stranger(options: String) {
        for address in ["rtsp://h/x", "https://h/x", "rtmps://h/x", "srt://h:1", "ffmpeg:tls://h:1", "udp://h:1"] {
            let error = #expect(throws: InletError.self) { try PluginRegistry.standard.source("\(address)?\(options)") }
            #expect(error?.code == .invalidConfiguration, "\(address): \(error.map { "\($0)" } ?? "")")
        }
    }

    @Test(
        "Sink options do not read a file or the environment either",
        arguments: [
            "rtmps://h/a?key-file=/etc/passwd", "rtsp://h/a?user=x&password-env=HOME", "rtsps://h/a?tls-ca=/etc/passwd",
            "srt://h:1?passphrase-file=/etc/passwd", "srt://h:1?streamid-env=HOME", "preview:?token-file=/etc/passwd",
            "rtsp://h/a?query.x-file=/etc/passwd", "webrtc:?token-file=/etc/passwd",
            "webrtc:?turn=h&turn-secret-env=HOME",
            "webrtc:?turn=h&turn-user=a&turn-password-file=/etc/passwd", "whip+https://h/a?token-env=HOME",
            "whip+https://h/a?query.x-env=HOME",
        ])
    func strangersSink(uri: String) throws {
        let scheme = String(uri.prefix { $0 != ":" })
        let plugin = PluginRegistry.standard.sinks.last { $0.info.schemes.contains(scheme) }
        // Without the trait, nothing could read a file.
        guard plugin?.info.options.isEmpty == false else { return }
        let error = #expect(throws: InletError.self) { try PluginRegistry.standard.sink(uri) }
        #expect(error?.message.contains("PluginRegistry.localAccess") == true, "\(error?.message ?? "")")
    }
}
