import Glibc

// Unsafe: reads the environment.
/// The environment variables by which the system's service manager configures a service (systemd.exec(5),
/// sd_notify(3)).
package enum ServiceEnvironment {
    /// The folder of credentials; nil if the variable is not set.
    package static var credentials: String? { value(of: "CREDENTIALS_DIRECTORY") }

    /// The address of the notification socket; nil if the manager expects no notifications.
    package static var notifySocket: String? { value(of: "NOTIFY_SOCKET") }

    /// The time within which the service must send a sign of life; nil if this process is not watched.
    package static var watchdog: Duration? {
        guard let time = value(of: "WATCHDOG_USEC").flatMap({ UInt64($0) }), time > 0, time < 1 << 50 else {
            return nil
        }
        if let process = value(of: "WATCHDOG_PID"), process != "\(getpid())" { return nil }
        return .microseconds(Int64(time))
    }

    private static func value(of name: String) -> String? {
        guard let text = unsafe getenv(name), unsafe text.pointee != 0 else { return nil }
        return unsafe String(cString: text)
    }
}
