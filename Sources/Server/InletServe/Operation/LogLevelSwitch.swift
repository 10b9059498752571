package import Logging
import Synchronization

/// The level of the daemon's log, which may be changed at run time. There is one level for the whole process.
package enum LogLevelSwitch {
    private static let chosen = Mutex(Logger.Level.notice)

    /// The lowest level that is written. The default is `notice`.
    package static var level: Logger.Level {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }
}

/// Passes on messages to another handler, from the level of ``LogLevelSwitch`` on. A logger with a higher usual level
/// keeps it until the switch is set below its default. Then the switch applies to all loggers.
package struct SwitchedLogHandler: LogHandler {
    private var base: any LogHandler
    /// The level of this logger; nil if it has not been set.
    private var own: Logger.Level?
    private let usual: Logger.Level

    /// - Parameter usual: the logger's lowest level unless the switch is set below its default. The default is that of
    ///   the switch.
    package init(_ base: any LogHandler, usual: Logger.Level = .notice) {
        self.base = base
        self.usual = usual
        self.base.logLevel = .trace
    }

    package var logLevel: Logger.Level {
        get {
            if let own { return own }
            let level = LogLevelSwitch.level
            return level < .notice ? level : max(level, usual)
        }
        set { own = newValue }
    }

    package var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) { base.log(event: event) }
}
