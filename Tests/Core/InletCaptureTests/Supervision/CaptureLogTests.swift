import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

@Suite(.timeLimit(.minutes(10))) struct CaptureLogTests {
    /// Keeps the log lines.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])

        func logger(_ level: Logger.Level) -> Logger {
            var logger = Logger(label: "test") { [self] _ in Handler(lines: self) }
            logger.logLevel = level
            return logger
        }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.level) \(event.message)") } }
    }

    @Test("Drops that a policy intends are debug messages, the others warnings, each counted by sink and reason")
    func levels() {
        let lines = Lines()
        let log = CaptureLog(lines.logger(.debug), source: "test:", clock: ManualClock())
        for _ in 0..<3 {
            log.dropped(.superseded, by: "a")
            log.dropped(.queueFull, by: "b")
        }
        log.flush()
        #expect(
            lines.all.withLock { $0 } == [
                "debug test:: dropped a frame for a: superseded",
                "warning test:: dropped a frame for b: queueFull",
                "debug test:: dropped a frame for a: superseded (2 times)",
                "warning test:: dropped a frame for b: queueFull (2 times)",
            ])
    }

    @Test("Withheld messages are logged when the interval is over by the capturer's clock")
    func interval() async {
        let lines = Lines()
        let clock = ManualClock()
        let log = CaptureLog(lines.logger(.debug), source: "test:", clock: clock)
        for _ in 0..<4 { log.dropped(.queueFull, by: "a") }
        let first = "warning test:: dropped a frame for a: queueFull"
        await clock.run(for: .milliseconds(999))
        #expect(lines.all.withLock { $0 } == [first])
        await clock.run(for: .milliseconds(1))
        #expect(lines.all.withLock { $0 } == [first, first + " (3 times)"])
        for _ in 0..<2 { log.dropped(.queueFull, by: "a") }
        await clock.run(for: .seconds(1))
        #expect(lines.all.withLock { $0 }.last == first + " (2 times)")
        #expect(clock.timerCount == 0)
    }

    @Test("A run that drops frames logs their number, at its end at the latest")
    func run() async throws {
        let lines = Lines()
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        var configuration = CapturerConfiguration()
        configuration.logger = lines.logger(.warning)
        // The clock does not advance: everything after the first line is withheld to the end.
        let capturer = Capturer(
            ScriptedSourceConfiguration(.init(.frames(20))), configuration: configuration, clock: ManualClock())
        capturer.attach(RecordingSink(behavior), named: "slow", queue: .buffered(1, dropping: .newest))
        async let reason = capturer.run()
        await gate.someoneWaits()
        await Waiting.until { capturer.statistics.captured >= 20 }
        gate.open()
        _ = try await reason
        let dropped = try #require(capturer.statistics.drops[.queueFull])
        #expect(
            lines.all.withLock { $0 } == [
                "warning scripted:: dropped a frame for slow: queueFull",
                "warning scripted:: dropped a frame for slow: queueFull (\(dropped - 1) times)",
            ])
    }
}
