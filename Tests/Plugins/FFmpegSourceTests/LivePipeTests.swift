import FFmpegSource
import Foundation
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

/// FIFOs that a camera program writes.
@Suite(.timeLimit(.minutes(1)), .blocking) struct LivePipeTests {
    /// Starts a writer when the source is interrupted, and records the source's reports.
    private final class Camera: Sendable {
        private let state = Mutex((reports: [String?](), context: SourceContext?.none))
        let path: String
        let clock = ManualClock()

        init(path: String) { self.path = path }

        var reports: [String?] { state.withLock { $0.reports } }

        func watch(_ context: SourceContext) { state.withLock { $0.context = context } }

        func note(_ reason: String?) {
            state.withLock { $0.reports.append(reason) }
            guard reason != nil else { return }
            // Far longer than the time-out.
            clock.advance(by: .seconds(600))
            let writer = Process()
            writer.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            writer.arguments = [
                "ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25",
                "-frames:v", "25", "-c:v", "mpeg2video", "-g", "10", "-f", "mpegts", "-y", path,
            ]
            // Without a writer the source would wait for ever.
            writer.terminationHandler = { if $0.terminationStatus != 0 { self.cancel() } }
            do { try writer.run() } catch { cancel() }
        }

        private func cancel() { state.withLock { $0.context }?.cancel() }
    }

    @Test("A live FIFO without a writer is interrupted until one connects, beyond its time-out, each time it is opened")
    func missingWriter() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("fifo")
        _ = try ReferenceCommand.run("mkfifo", [path])
        for _ in 0..<2 {
            let camera = Camera(path: path)
            let context = SourceContext(
                clock: camera.clock, logger: .init(label: "test"), onInterruption: { camera.note($0) })
            camera.watch(context)
            var configuration = FFmpegFileConfiguration(path: path)
            configuration.pace = .live
            let source = configuration.makePacketSource()
            context.setDeadline(after: .seconds(20))
            _ = try source.open(context)
            #expect(camera.reports == ["no program writes to the FIFO", nil])
            var count = 0
            // The end of the writer is a failure of a live source, not an interruption.
            #expect(throws: InletError.self) { while try source.next(context) != nil { count += 1 } }
            #expect(count > 10)
            #expect(camera.reports.count == 2 && !context.isCancelled)
            source.close()
        }
    }
}
