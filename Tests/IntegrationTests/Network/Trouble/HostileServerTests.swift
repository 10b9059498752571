import Foundation
import ReferenceTools
import Testing

/// Servers that are hostile or broken. Most tests wait for a time-out, so a few run at a time. Each uses its own
/// process, so that other tests do not change the measured memory.
@Suite(.tags(.server), .fewAtATime) struct HostileServerTests {
    /// The servers whose streams can be watched.
    private static let watchable: [HostileServer.Kind] = [
        .playlistElsewhere, .playlistGuarded, .redirectPlain, .redirectSeek, .chunked, .cappedRange,
        .openRedirect,
    ]

    @Test(
        "A hostile server ends in an error and does not grow memory",
        arguments: HostileServer.Kind.allCases.filter { !watchable.contains($0) }, ["rtsp", "http"])
    func hostile(_ kind: HostileServer.Kind, _ scheme: String) throws {
        var options = HostileServer.Options()
        options.kind = kind
        options.file = try TestClips.path("h264-b.mp4")
        let server = try HostileServer(options)
        let inlet = try InletProcess.run([
            "run", "\(server.url(scheme))?connect-timeout=1s&first-timeout=1s&read-timeout=1s", "--retry", "never",
            "--to", "null:", "--report", "json",
        ])
        let report = try Report(inlet)
        if kind != .fileThenGarbage || scheme == "rtsp" { #expect(report.error != nil, "\(kind): \(inlet.status)") }
        #expect(report.error?.code != "internal")
        // Some servers would make the program keep 100 MB; the program itself uses about 60. Over HTTP libavformat
        // reads the huge body completely as a session description, and then frees it.
        let most = kind == .hugeBody && scheme == "http" ? 192 : 128
        #expect(report.peakKiB < most << 10, "\(report.peakKiB >> 10) MiB")
    }
}
