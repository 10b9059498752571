public import Logging
import Synchronization

/// Keeps log messages from the level trace up. Safe to use from any thread.
public final class LogLines: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])

    public init() {}

    /// The lines so far: `LEVEL MESSAGE`, and the metadata if there is any.
    public var all: [String] { lines.withLock { $0 } }

    public var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    public var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    public func log(event: LogEvent) {
        let metadata = event.metadata.map { " \($0)" } ?? ""
        lines.withLock { $0.append("\(event.level) \(event.message)\(metadata)") }
    }
}
