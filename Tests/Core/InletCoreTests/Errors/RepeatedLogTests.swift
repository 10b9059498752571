import InletCore
import InletTesting
import Logging
import Synchronization
import Testing

@Suite struct RepeatedLogTests {
    /// A log on a clock that the test advances, with its lines and its requested wake-ups.
    private final class Bench: Sendable {
        let clock = ManualClock()
        let lines = Mutex<[String]>([])
        private let wakeUps = Mutex<[WakeUp]>([])

        func log(capacity: Int = 64, level: Logger.Level = .info) -> RepeatedLog {
            var logger = Logger(label: "test") { [self] _ in Handler(bench: self) }
            logger.logLevel = level
            return RepeatedLog(logger, capacity: capacity, now: { self.clock.now }) { delay, action in
                self.wakeUps.withLock { $0.append(WakeUp(delay: delay, action: action)) }
            }
        }

        /// The lines since the last call.
        func takeLines() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        /// The wake-ups requested since the last call.
        func takeWakeUps() -> [WakeUp] {
            wakeUps.withLock { wakeUps in
                defer { wakeUps = [] }
                return wakeUps
            }
        }

        /// Advances the clock to the one requested wake-up, and wakes.
        func wake() {
            let asked = takeWakeUps()
            #expect(asked.count == 1)
            for wakeUp in asked {
                clock.advance(by: wakeUp.delay)
                wakeUp.action()
            }
        }
    }

    private struct WakeUp {
        var delay: Duration
        var action: @Sendable () -> Void
    }

    private struct Handler: LogHandler {
        let bench: Bench
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { bench.lines.withLock { $0.append("\(event.level) \(event.message)") } }
    }

    @Test("The first message is logged at once, those of the next second as one line with their number")
    func coalesces() {
        let bench = Bench()
        let log = bench.log()
        log.log(.warning, "late")
        #expect(bench.takeLines() == ["warning late"])
        for _ in 0..<28 { log.log(.warning, "late") }
        #expect(bench.takeLines().isEmpty)
        bench.wake()
        #expect(bench.takeLines() == ["warning late (28 times)"])
        #expect(bench.takeWakeUps().isEmpty)
    }

    @Test("A message an hour later is logged at once and without a number")
    func comesBack() {
        let bench = Bench()
        let log = bench.log()
        log.log(.warning, "late")
        bench.clock.advance(by: .seconds(3600))
        log.log(.warning, "late")
        #expect(bench.takeLines() == ["warning late", "warning late"])
    }

    @Test("Messages under one key share a line that shows the newest")
    func keyed() {
        let bench = Bench()
        let log = bench.log()
        for number in 1...5 { log.log(.info, "frame \(number) is damaged", key: "damaged") }
        bench.wake()
        #expect(bench.takeLines() == ["info frame 1 is damaged", "info frame 5 is damaged (4 times)"])
    }

    @Test("Each key has its own second")
    func perKey() {
        let bench = Bench()
        let log = bench.log()
        log.log(.info, "a")
        log.log(.info, "a")
        bench.clock.advance(by: .milliseconds(900))
        log.log(.info, "b")
        log.log(.info, "b")
        // The wake-up was requested a second after the first line, and is on time.
        #expect(bench.takeLines() == ["info a", "info b"])
        let wakeUps = bench.takeWakeUps()
        #expect(wakeUps.map(\.delay) == [.seconds(1)])
        bench.clock.advance(by: .milliseconds(100))
        wakeUps.first?.action()
        #expect(bench.takeLines() == ["info a"])
        bench.clock.advance(by: .milliseconds(899))
        #expect(bench.takeLines().isEmpty)
        bench.clock.advance(by: .milliseconds(1))
        bench.takeWakeUps().first?.action()
        #expect(bench.takeLines() == ["info b"])
    }

    @Test("A flush logs withheld messages at once")
    func flush() {
        let bench = Bench()
        let log = bench.log()
        for _ in 0..<3 { log.log(.error, "gone") }
        log.flush()
        log.flush()
        #expect(bench.takeLines() == ["error gone", "error gone (2 times)"])
    }

    @Test("A message below the log level is not even formatted")
    func leftOut() {
        func message() -> String {
            Issue.record("made")
            return ""
        }
        Bench().log(level: .error).log(.warning, message())
    }

    @Test(
        "A flood of different messages makes at most one line a second more than there are keys",
        arguments: [1, 8])
    func bounded(capacity: Int) {
        let bench = Bench()
        let log = bench.log(capacity: capacity)
        for number in 0..<1000 { log.log(.info, "message \(number)") }
        var lines = bench.takeLines()
        #expect(lines.count == capacity + 1)
        bench.wake()
        lines = bench.takeLines()
        #expect(lines == ["info message 999, and others (\(1000 - capacity - 1) messages)"])
        // Quiet keys make room.
        bench.clock.advance(by: .seconds(1))
        log.log(.info, "new")
        #expect(bench.takeLines() == ["info new"])
    }

    @Test(
        "The numbers of all lines add up to the messages, and no key has two lines within a second", arguments: 0..<20)
    func addsUp(seed: Int) {
        let bench = Bench()
        let log = bench.log(capacity: 3)
        var random = UInt64(seed)
        var total = 0
        var lastLine: [String: MonotonicTime] = [:]
        var messages = 0
        func check() {
            for line in bench.takeLines() {
                let words = line.split(separator: " ")
                total += words.count > 2 ? words.compactMap { Int($0.filter(\.isNumber)) }.last ?? 0 : 1
                guard !line.contains("others") else { continue }
                let key = String(words[1])
                if let last = lastLine[key] { #expect(bench.clock.now - last >= .seconds(1)) }
                lastLine[key] = bench.clock.now
            }
        }
        for _ in 0..<500 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Two keys fit next to the one that stays busy.
            log.log(.info, ["x", "y", "z"][Int(random >> 33) % 3])
            messages += 1
            check()
            bench.clock.advance(by: .milliseconds(Int(random >> 40) % 400))
            for wakeUp in bench.takeWakeUps() {
                bench.clock.advance(by: wakeUp.delay)
                wakeUp.action()
            }
            check()
        }
        log.flush()
        for line in bench.takeLines() {
            total += line.split(separator: " ").count > 2 ? Int(line.filter(\.isNumber)) ?? 0 : 1
        }
        #expect(total == messages)
    }
}
