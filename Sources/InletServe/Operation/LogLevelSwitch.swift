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

/// Writes what another handler writes, from the level of ``LogLevelSwitch`` on.
package struct SwitchedLogHandler: LogHandler {
    private var base: any LogHandler
    /// The level of one logger, if it has one of its own.
    private var own: Logger.Level?

    package init(_ base: any LogHandler) {
        self.base = base
        self.base.logLevel = .trace
    }

    package var logLevel: Logger.Level {
        get { own ?? LogLevelSwitch.level }
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
