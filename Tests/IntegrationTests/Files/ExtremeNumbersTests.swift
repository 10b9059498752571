import Foundation
import Inlet
import Logging
import ReferenceTools
import Testing

/// Containers with numbers at the limits of their types: they give frames or an error, and never trap.
@Suite(.blocking) struct ExtremeNumbersTests {
    private static let edges: [UInt64] = [
        0, 1, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 63) + (1 << 60), .max,
    ]

    private func jpeg() throws -> Data {
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1", "-f", "image2pipe", "-c:v", "mjpeg", "-",
        ])
    }

    /// Files with one odd number each, and some with several.
    private func files() throws -> [MatroskaFile] {
        let plain = MatroskaFile(picture: try jpeg())
        var files = [plain]
        func add(_ change: (inout MatroskaFile) -> Void) {
            var file = plain
            change(&file)
            files.append(file)
        }
        for edge in Self.edges {
            add { ($0.timestampScale, $0.defaultDuration) = (edge, edge) }
            add { ($0.blockDuration, $0.displayWidth, $0.displayHeight) = (edge, edge, 1) }
            add { $0.times = [edge, Self.edges.last ?? 0, 0, edge] }
        }
        for duration in [-1, 9.3e18, 1e300, -.infinity, .nan] {
            add { ($0.duration, $0.times) = (duration, [0, (1 << 63) - 1, 1 << 63]) }
        }
        for block in [Int16.min, .max] {
            add {
                ($0.timestampScale, $0.blockTime, $0.duration) = (1 << 40, block, 9.3e18)
                ($0.times, $0.blockDuration) = ([1 << 62, (1 << 63) - 1], .max)
            }
        }
        add { $0.width = 1 << 31 }
        return files
    }

    @Test("Matroska with odd times, lengths and sizes is decoded, recorded unchanged, or refused")
    func matroska() async throws {
        let folder = try TemporaryFolder()
        var delivered = 0
        for (index, file) in try files().enumerated() {
            let path = folder.path("odd.mkv")
            try file.bytes.write(to: URL(fileURLWithPath: path))
            for start in ["?threads=1", "?threads=1&start=1000s&loop=1"] {
                let count = try await frames("file:\(path)\(start)", copyTo: folder.path("out-\(index).mp4"))
                delivered += count
                if index == 0 { #expect(count == 3 || start.contains("loop")) }
            }
        }
        // Many of these files must be readable; otherwise they are not built correctly.
        #expect(delivered > 50, "\(delivered) frames")
    }

    @Test("A live stream with such numbers ends in an error")
    func live() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("odd.mkv")
        var file = MatroskaFile(picture: try jpeg())
        // 2^63 is AV_NOPTS_VALUE, libavformat's value for an unknown time. libavformat returns no time beyond about
        // 2^62 milliseconds.
        let (least, most) = ((1 << 63) + (1 << 60), 7 << 60) as (UInt64, UInt64)
        for (duration, times) in [
            (9e15, [least, most]), (9e12, [least, most]), (9e15, [0, least, most]), (9e15, [most, least]),
        ] as [(Double, [UInt64])] {
            (file.duration, file.times) = (duration, times)
            try file.bytes.write(to: URL(fileURLWithPath: path))
            var options = HostileServer.Options()
            (options.kind, options.file) = (.rawFile, path)
            let server = try HostileServer(options)
            let inlet = try InletProcess.run([
                "run", "ffmpeg:\(server.url("tcp", ""))", "--retry", "never", "--report", "json",
            ])
            #expect([0, 65, 75, 76].contains(inlet.status), "\(inlet.status) \(inlet.complaints)")
        }
    }

    /// Returns the number of frames, at most 20. A run must end with an `InletError` or without an error.
    private func frames(_ uri: String, copyTo path: String? = nil) async throws -> Int {
        var configuration = CapturerConfiguration()
        configuration.frameLimit = 20
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let capturer = Capturer(try PluginRegistry.standard.source(uri), configuration: configuration)
        capturer.attach(try PluginRegistry.standard.sink("null:"))
        if let path { capturer.attach(try PluginRegistry.standard.sink("mp4:\(path)?codec=copy")) }
        do throws(InletError) { _ = try await capturer.run() } catch { #expect(error.code != .internal, "\(error)") }
        return Int(capturer.statistics.captured)
    }
}
