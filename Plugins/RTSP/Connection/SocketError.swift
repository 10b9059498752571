import Glibc
import InletCore
import InletSystem

/// Explains socket errors to users.
enum SocketError {
    /// Returns the error for a system call on a socket.
    static func error(_ number: Int32, operation: String) -> InletError {
        let context = InletError.Context(operation: operation, nativeCode: number)
        switch number {
        case ECONNREFUSED:
            return InletError(
                .connectionRefused,
                "Nothing listens at the address. Check the port, and that the server runs.", context: context)
        case EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN, EADDRNOTAVAIL:
            return InletError(
                .disconnected,
                "The address is unreachable: \(SystemErrorText.of(number)). Check the network and the address.",
                context: context)
        case ETIMEDOUT:
            return InletError(
                .timedOut, "The server does not answer. Check the address and the network.", context: context)
        case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN, ENETRESET:
            return InletError(
                .disconnected, "The connection was lost. Check the server and the network.", context: context)
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            return InletError(
                .resourceExhausted,
                "No file descriptor or memory is left for a connection. Raise the limit (ulimit -n) or stop some sources.",
                context: context)
        case EACCES, EPERM:
            return InletError(
                .permissionDenied,
                "The system forbids the connection. Check the firewall of this machine.", context: context)
        default:
            return InletError(
                .inputOutput, "The connection failed: \(SystemErrorText.of(number)).", context: context)
        }
    }
}

// Unsafe: passes option values to `setsockopt`.
/// Socket options that are whole numbers.
enum SocketOption {
    /// Sets an option. If the system rejects it, the socket works without it.
    static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
