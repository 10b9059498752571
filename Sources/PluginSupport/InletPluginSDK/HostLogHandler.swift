import Logging

/// Passes a source's log messages to the host.
struct HostLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard let log = PluginLibrary.shared.log else { return }
        let all = event.metadata.map { metadata.merging($0) { $1 } } ?? metadata
        let facts = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        log(event.level, "\(event.message)\(facts)")
    }
}
