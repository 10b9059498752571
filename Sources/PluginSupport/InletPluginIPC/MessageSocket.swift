import CLinux
import Glibc
package import InletCore
import InletSystem

// Unsafe: sends and receives structs as bytes.
/// One end of the connection between Inlet and the child process of a plug-in: a socket of the type `SOCK_SEQPACKET`,
/// on which each message arrives complete or not at all.
///
/// Never blocks: callers that wait for a message poll ``descriptor``. Safe from any thread.
package final class MessageSocket: Sendable {
    /// The socket, for polling.
    package let descriptor: Int32

    /// Takes over a socket, and closes it at the end.
    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes a connected pair; programs that this process starts inherit neither end.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the process has no descriptor left.
    package static func pair() throws(InletError) -> (MessageSocket, MessageSocket) {
        var ends: [Int32] = [-1, -1]
        // The type's raw value on all architectures except MIPS.
        let type = Int32(SOCK_SEQPACKET.rawValue) | inlet_socket_close_on_exec
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw InletError(
                .resourceExhausted,
                "No connection to a plug-in's process can be made: \(SystemErrorText.of(errno)). "
                    + "Raise the limit of descriptors (ulimit -n) or stop some sources.",
                context: .init(operation: "socketpair", nativeCode: errno))
        }
        return (MessageSocket(adopting: ends[0]), MessageSocket(adopting: ends[1]))
    }

    /// The reason why a message could not be sent.
    package enum SendFailure: Error {
        /// The other end is gone.
        case closed
        /// The other end does not read: earlier messages fill the system's buffer.
        case full
        /// The `errno` of another failure.
        case system(Int32)

        /// The `errno` of the failure.
        package var number: Int32 {
            switch self {
            case .closed: EPIPE
            case .full: EAGAIN
            case .system(let number): number
            }
        }
    }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: a struct of `inlet_plugin_protocol.h`.
    ///   - trailer: bytes after it. Empty by default.
    ///   - descriptor: a descriptor, of which the other end gets a copy. The default, -1, sends none.
    package func send(
        _ message: some BitwiseCopyable, _ trailer: [UInt8] = [], descriptor passed: Int32 = -1
    ) throws(SendFailure) {
        let sent = unsafe withUnsafeBytes(of: message) { unsafe send($0, trailer, passed) }
        guard sent < 0 else { return }
        switch errno {
        case EPIPE, ECONNRESET, ENOTCONN: throw .closed
        case EAGAIN: throw .full
        case let number: throw .system(number)
        }
    }

    private func send(_ message: UnsafeRawBufferPointer, _ trailer: [UInt8], _ passed: Int32) -> Int {
        func send(_ bytes: UnsafeRawBufferPointer) -> Int {
            while true {
                let sent = unsafe inlet_send_message(
                    descriptor, bytes.baseAddress, bytes.count, passed, Int32(MSG_DONTWAIT))
                if sent >= 0 || errno != EINTR { return sent }
            }
        }
        guard !trailer.isEmpty else { return unsafe send(message) }
        var whole = unsafe Array(message)
        whole += trailer
        return unsafe whole.withUnsafeBytes { unsafe send($0) }
    }

    /// The reason why no message was received.
    package enum ReceiveFailure: Error {
        /// There is no message at present.
        case empty
        /// The other end is gone.
        case closed
        /// The message is longer than the buffer. It is lost.
        case tooLong
        /// The `errno` of another failure.
        case system(Int32)
    }

    /// Receives the next message into a buffer, replacing its contents.
    package func receive(into buffer: inout MessageBuffer) throws(ReceiveFailure) {
        let received = unsafe buffer.refill { (bytes, passed) in
            while true {
                let count = unsafe inlet_receive_message(
                    descriptor, bytes.baseAddress, bytes.count, passed, Int32(MSG_DONTWAIT))
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard received <= 0 else { return }
        guard received < 0 else { throw .closed }
        switch errno {
        case EAGAIN: throw .empty
        case EMSGSIZE: throw .tooLong
        case ECONNRESET: throw .closed
        case let number: throw .system(number)
        }
    }
}
