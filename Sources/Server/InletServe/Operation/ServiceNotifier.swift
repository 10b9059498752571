import Glibc
import InletSystem

// Unsafe: owns the address of a socket.
/// Reports the service's state to the system's service manager (sd_notify(3)), by datagrams of a few lines to a local
/// socket.
package struct ServiceNotifier: Sendable {
    /// A message to the service manager.
    package enum Message: Sendable, Equatable {
        /// The service has started.
        case ready
        /// The service is reading its configuration again, at a time of the monotonic clock in microseconds.
        case reloading(UInt64)
        /// The service is stopping.
        case stopping
        /// The service is alive.
        case watchdog
        /// A description of the service's activity, for people.
        case status(String)

        /// The lines of the datagram.
        package var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            // A line end would begin another assignment.
            case .status(let text):
                "STATUS=" + String(decoding: text.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
            }
        }
    }

    private let address: [UInt8]

    /// - Parameter socket: the path of the socket, or an abstract name after an `@`. If it is nil, or too long for a
    ///   socket address, no messages are sent.
    package init(socket: String?) {
        var bytes = Array((socket ?? "").utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        address = bytes.count < 108 && (bytes.first == 0 || bytes.first == UInt8(ascii: "/")) ? bytes : []
    }

    /// Sends a message. Does not wait: the message is lost if the manager does not receive it.
    package func send(_ message: Message) {
        guard !address.isEmpty else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &name.sun_path) { path in
            for (index, byte) in address.enumerated() { unsafe path[index] = byte }
        }
        // An abstract name has no terminating zero.
        let length = MemoryLayout<sa_family_t>.size + address.count + (address.first == 0 ? 0 : 1)
        let text = Array(message.text.utf8)
        _ = unsafe withUnsafePointer(to: &name) { name in
            unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(
                    descriptor, text, text.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0,
                    socklen_t(length))
            }
        }
    }
}
