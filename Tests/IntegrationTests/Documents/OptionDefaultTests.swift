import Foundation
import Inlet
import ReferenceTools
import Testing

/// Checks that the defaults in the plug-ins' READMEs match the code.
@Suite struct OptionDefaultTests {
    /// The folder of each plug-in, by one of its URI schemes.
    private static let sources = [
        "pattern": "Pattern", "file": "FFmpeg/Source", "http": "FFmpeg/Source", "rtsp": "RTSP",
        "rtspcap": "RTSP", "onvif": "RTSP",
        "v4l2": "V4L2/Source", "screen": "Screen", "whip": "WebRTC/Source", "whep+https": "WebRTC/Source",
        "janus+wss": "WebRTC/Source",
        "kvs": "Kinesis",
    ]
    private static let sinks = [
        "null": "Files", "i420": "Files", "y4m": "Files", "framemd5": "Files", "mp4": "FFmpeg/Sink",
        "rtsp": "FFmpeg/Sink", "exec": "Pipe", "shm": "Pipe", "preview": "Preview", "jpeg": "Stills",
        "png": "Stills", "v4l2": "V4L2/Sink", "webrtc": "WebRTC/Sink", "whip+https": "WebRTC/Sink",
        "janus+wss": "WebRTC/Sink",
        "kvs": "Kinesis",
    ]

    /// The third cells of the table rows that begin with each option's name in backquotes.
    private static func defaults(in readme: String) -> [String: [String]] {
        var found: [String: [String]] = [:]
        for line in readme.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(plain)
            if cells.count > 4 { found[cells[1], default: []].append(cells[3]) }
        }
        return found
    }

    /// Backquotes and blanks are removed, so that `150 ms` equals `150ms`.
    private static func plain(_ cell: Substring) -> String { cell.filter { $0 != "`" && $0 != " " } }

    private static func violations(_ info: PluginInfo, in folders: [String: String]) throws -> [String] {
        guard let folder = info.schemes.compactMap({ folders[$0] }).first else {
            return ["\(info.name) is not in this test's table"]
        }
        let file = BuiltProgram.package.appending(path: "Plugins/\(folder)/README.md")
        let readme = try String(contentsOf: file, encoding: .utf8)
        let documented = defaults(in: readme)
        return info.options.compactMap { option in
            guard !option.defaultValue.isEmpty else { return nil }
            let cells = documented[option.name] ?? []
            if cells.contains(plain(option.defaultValue[...])) { return nil }
            return "\(folder): `\(option.name)` is \(option.defaultValue), not \(cells)"
        }
    }

    @Test("The default of each option appears in its plug-in's README")
    func all() throws {
        let registry = PluginRegistry.standard
        #expect(registry.sources.count > 3 && registry.sinks.count > 10)
        let found =
            try registry.sources.flatMap { try Self.violations($0.info, in: Self.sources) }
            + registry.sinks.flatMap { try Self.violations($0.info, in: Self.sinks) }
        #expect(found == [])
    }

    @Test("The rows of a table are read")
    func rows() {
        let readme = """
            | option | type | default | meaning |
            |---|---|---|---|
            | `a` | time | `150 ms` | text |
            | b | | |
            """
        #expect(Self.defaults(in: readme) == ["a": ["150ms"]])
    }
}
