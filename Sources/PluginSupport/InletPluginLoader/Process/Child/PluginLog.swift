import InletCore
import InletSystem
import Logging

/// Writes a plug-in's lines to the log: at most a hundred a second. The rest is counted.
struct PluginLog {
    private let logger: Logger
    private let name: String
    private var second = MonotonicTime(nanoseconds: .min)
    private var lines = 0
    private var withheld: UInt64 = 0

    /// The most lines in a second.
    static let linesPerSecond = 100

    /// - Parameter name: the plug-in's name, which begins each line.
    init(_ logger: Logger, name: String) {
        self.logger = logger
        self.name = name
    }

    /// Writes or counts a line.
    mutating func write(_ level: Logger.Level, _ text: String, at now: MonotonicTime = .now) {
        if now - second >= .seconds(1) {
            flush()
            (second, lines) = (now, 0)
        }
        guard lines < Self.linesPerSecond else {
            withheld &+= 1
            return
        }
        lines += 1
        logger.log(level: level, "\(name): \(text)")
    }

    /// Writes the number of lines withheld since the last time, if any.
    mutating func flush() {
        guard withheld > 0 else { return }
        logger.warning("\(name): \(withheld) more lines within a second are not shown")
        withheld = 0
    }
}
