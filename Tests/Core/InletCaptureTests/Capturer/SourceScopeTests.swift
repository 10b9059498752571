import InletCapture
import InletCore
import InletTesting
import Synchronization
import Testing

/// The scope that the sources of one capturer share.
@Suite(.timeLimit(.minutes(2))) struct SourceScopeTests {
    /// Counts the capturers that requested a scope, and records the scope for which each source was made.
    private final class Record: Sendable {
        let scopes = Mutex(0)
        let made = Mutex<[Int?]>([])
    }

    private struct Configuration: FrameSourceConfiguration {
        let record: Record
        let scripts: ScriptedSourceConfiguration
        var scope: Int?
        var redactedURI: String { "scoped:" }

        func scopedToCapturer() -> any FrameSourceConfiguration {
            var scoped = self
            scoped.scope = record.scopes.withLock { scopes in
                scopes += 1
                return scopes
            }
            return scoped
        }

        func makeSource() -> any FrameSource {
            record.made.withLock { $0.append(scope) }
            return scripts.makeSource()
        }
    }

    @Test("A capturer makes all its sources in one scope, and no other capturer shares it")
    func scopes() async throws {
        let record = Record()
        let live = SupervisionTests.live
        for _ in 0..<2 {
            let scripts = ScriptedSourceConfiguration([
                ScriptedSource.Script(format: live, .frames(2) + [.fail(SupervisionTests.gone)]),
                ScriptedSource.Script(format: live, .frames(2)),
            ])
            let capturer = Capturer(
                Configuration(record: record, scripts: scripts), configuration: SupervisionTests.quick())
            capturer.attach(RecordingSink(log: RecordingSink.Log()), queue: .lossless())
            #expect(try await capturer.run() == .endOfStream)
        }
        #expect(record.made.withLock { $0 } == [1, 1, 2, 2])
    }
}
