import Glibc
import InletCore
import InletFFmpeg
import InletSystem

// Unsafe: receives into and sends from memory that the caller lends.
/// A TCP connection that never blocks.
@safe final class TCPChannel: ByteChannel {
    let descriptor: Int32

    /// Starts to connect. The connection is established, or has failed, when the descriptor is writable; see
    /// ``connectionError``.
    ///
    /// - Throws: the error if the system immediately rejects a socket or the address.
    init(connectingTo address: SocketAddress) throws(InletError) {
        let descriptor = socket(address.family, Self.streamType, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw SocketError.error(errno, operation: "socket") }
        self.descriptor = descriptor
        // Requests are small, and each is awaited.
        SocketOption.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        let status = unsafe address.withSocketAddress { unsafe connect(descriptor, $0, $1) }
        guard status == 0 || errno == EINPROGRESS else {
            // `deinit` closes the descriptor, because all properties are set.
            throw SocketError.error(errno, operation: "connect")
        }
    }

    deinit { close(descriptor) }

    private static let streamType =
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue)

    /// The `errno` with which connecting failed; nil if the connection is established. Meaningful once the descriptor
    /// is writable.
    var connectionError: Int32? {
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else { return errno }
        return number == 0 ? nil : number
    }

    /// The address of this end.
    var localAddress: SocketAddress? {
        unsafe SocketAddress { unsafe getsockname(descriptor, $0, &$1) == 0 }
    }

    /// The address of the other end.
    var remoteAddress: SocketAddress? {
        unsafe SocketAddress { unsafe getpeername(descriptor, $0, &$1) == 0 }
    }

    var wantsOutput: Bool { false }
    var canSend: Bool { true }
    var hasBuffered: Bool { false }
    func flush() {}

    /// Acknowledges the data that was read.
    ///
    /// Otherwise Linux delays the acknowledgement by 40 ms or more, in particular after this side has sent something.
    /// A server that uses Nagle's algorithm (RFC 896) holds back the last part of a picture until the acknowledgement
    /// arrives. The option does not stay set: tcp(7), `TCP_QUICKACK`.
    func acknowledge() {
        SocketOption.set(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, 1)
    }

    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome {
        while true {
            let count = unsafe recv(descriptor, target.baseAddress, target.count, 0)
            if count > 0 {
                acknowledge()
                return .bytes(count)
            }
            if count == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: throw SocketError.error(errno, operation: "recv")
            }
        }
    }

    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int {
        while true {
            let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return 0
            default: throw SocketError.error(errno, operation: "send")
            }
        }
    }
}
