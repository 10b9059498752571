import Foundation
import Inlet
import Logging
import ReferenceTools
import Testing

/// Loops over the frames of sources that can wait, written as in applications.
@Suite struct LoopTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// The ways in which an application receives frames.
    enum Loop: CaseIterable {
        /// The closure of `run`.
        case scoped
        /// The sequence `frames()`, while another task runs the capturer.
        case sequence
    }

    /// The presentation times that a loop sees, in nanoseconds.
    ///
    /// - Parameter pause: the time that the loop works on each frame.
    private func times(_ uri: String, _ loop: Loop, pause: Duration) async throws -> [Int64] {
        var configuration = CapturerConfiguration()
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let capturer = Capturer(try PluginRegistry.standard.source(uri), configuration: configuration)
        func take(_ frames: FrameSequence) async throws -> [Int64] {
            var times: [Int64] = []
            for try await frame in frames {
                times.append(frame.timestamp.nanoseconds)
                if pause > .zero { try await Task.sleep(for: pause) }
            }
            return times
        }
        switch loop {
        case .scoped: return try await capturer.run { frames in try await take(frames) }
        case .sequence:
            let frames = capturer.frames()
            async let ended = capturer.run()
            let times = try await take(frames)
            _ = try await ended
            return times
        }
    }

    @Test(
        "A slow loop receives every frame of a clip of variable rate", arguments: Loop.allCases,
        [Duration.zero, .milliseconds(2)])
    func clip(_ loop: Loop, pause: Duration) async throws {
        let clip = folder.path("clip.mp4")
        try await ReferenceCommand.runAside(
            "ffmpeg", ["-hide_banner", "-loglevel", "error", "-nostdin"] + Documents.clip(clip, frames: 414))
        let arguments = ["-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries"]
        let count = try await ReferenceCommand.runAside(
            "ffprobe", arguments + ["stream=nb_read_frames", "-of", "csv=p=0", clip])
        #expect(String(decoding: count, as: UTF8.self).hasPrefix("414"))
        let times = try await times(clip, loop, pause: pause)
        #expect(times.count == 414)
        // Every seventh frame is left out, so the spacing varies.
        let spacings = Set(zip(times.dropFirst(), times).map { ($0 - $1 + 500_000) / 1_000_000 })
        #expect(spacings == [33, 67])
    }

    @Test(
        "A slow loop receives every picture of an unpaced pattern", arguments: Loop.allCases,
        [Duration.zero, .milliseconds(50)])
    func pattern(_ loop: Loop, pause: Duration) async throws {
        let times = try await times("pattern:smpte?frames=5&pace=none", loop, pause: pause)
        #expect(times.count == 5)
    }
}
