import CInletPlugin
import Logging

// Unsafe: calls the host's log function.
/// The host's log.
@safe struct HostLog: Sendable {
    private let write: @convention(c) (inlet_log_level, UnsafePointer<CChar>?) -> Void

    /// Returns nil if the host has no log.
    init?(_ host: inlet_host) {
        guard let log = unsafe host.log else { return nil }
        unsafe write = log
    }

    /// Writes a line. Safe from any thread.
    func callAsFunction(_ level: Logger.Level, _ text: String) {
        let number =
            switch level {
            case .trace, .debug: INLET_LOG_DEBUG
            case .info, .notice: INLET_LOG_INFO
            case .warning: INLET_LOG_WARNING
            case .error, .critical: INLET_LOG_ERROR
            }
        unsafe text.withCString { unsafe write(inlet_log_level(number), $0) }
    }
}
