package import Logging
import Synchronization

/// The level of the daemon's log, which may be changed while it runs. One for the process, as its log is.
package enum LogLevelSwitch {
    private static let chosen = Mutex(Logger.Level.notice)

    /// The level from which messages are written. The default is `notice`.
    package static var level: Logger.Level {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }
}

/// Writes what another handler writes, from the level of ``LogLevelSwitch`` on. A logger that says little by itself
/// keeps to that until the switch is below its default, where all that a person asks for is written.
package struct SwitchedLogHandler: LogHandler {
    private var base: any LogHandler
    /// The level of one logger, if it has one of its own.
    private var own: Logger.Level?
    private let usual: Logger.Level

    /// - Parameter usual: the level from which the logger's messages are written unless the switch is at another. The
    ///   default is that of the switch.
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
