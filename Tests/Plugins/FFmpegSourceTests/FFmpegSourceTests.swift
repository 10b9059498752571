import FFmpegSource
import Foundation
import InletCore
import InletDecode
import InletTesting
import Logging
import ReferenceTools
import Testing

/// The file source by itself.
@Suite(.blocking) struct FFmpegSourceTests {
    @Test("It keeps the contract of sources", arguments: ["h264-b.mp4", "vfr.mkv", "resize.ts", "picture.gif"])
    func conformance(_ clip: String) async throws {
        let configuration = FFmpegFileConfiguration(path: try TestClips.path(clip))
        #expect(await SourceConformance.check(configuration) == [])
    }

    @Test("Opening and closing leaves no descriptor behind, even if it fails")
    func descriptors() throws {
        let clip = try TestClips.path("h264-b.mp4")
        func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        func cycle(_ path: String) {
            let source = FFmpegFileConfiguration(path: path).makeSource()
            let context = SourceContext(clock: ManualClock(), logger: .init(label: "test"))
            _ = try? source.open(context)
            _ = try? source.next(context)
            source.close()
        }
        cycle(clip)
        let before = try count()
        for _ in 0..<100 {
            cycle(clip)
            cycle("/etc/passwd")
            cycle("/nonexistent")
        }
        // Other tests of this process open files meanwhile; a leak would show as hundreds.
        #expect(try count() < before + 50)
    }
}
