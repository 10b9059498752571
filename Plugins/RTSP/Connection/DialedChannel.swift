import Glibc
import InletCore

// Unsafe: reads into and writes from memory that the caller lends.
/// A connection of a tunnel: TCP, or TLS over TCP. It connects and sends without ever blocking.
///
/// Confined to one thread at a time.
@safe final class DialedChannel {
    private enum State {
        case connecting(TCPChannel)
        case connected(any ByteChannel)
    }

    private let dialing: Dialing
    private var state: State
    /// The bytes that the system has not accepted yet.
    private var output: [UInt8] = []

    /// Takes over an established connection.
    init(_ socket: TCPChannel, _ dialing: Dialing) throws(InletError) {
        self.dialing = dialing
        state = .connected(try dialing.secured(socket))
    }

    /// Starts another connection.
    init(_ dialing: Dialing) throws(InletError) {
        self.dialing = dialing
        state = .connecting(try dialing.begin())
    }

    /// The descriptor to poll.
    var descriptor: Int32 {
        switch state {
        case .connecting(let socket): socket.descriptor
        case .connected(let channel): channel.descriptor
        }
    }

    /// Whether ``flush()`` has something to do when the descriptor is writable.
    var wantsOutput: Bool {
        switch state {
        case .connecting: true
        case .connected(let channel): channel.wantsOutput || (!output.isEmpty && channel.canSend)
        }
    }

    /// Whether bytes have arrived that polling does not reveal.
    var hasBuffered: Bool {
        if case .connected(let channel) = state { return channel.hasBuffered }
        return false
    }

    /// Whether the system has accepted all bytes.
    var isSent: Bool { output.isEmpty }

    /// Sends the bytes that `append` provides, or keeps them until the system accepts them.
    func send(_ append: (inout [UInt8]) -> Void) throws(InletError) {
        append(&output)
        try flush()
    }

    /// Continues connecting and sending waiting bytes.
    ///
    /// - Throws: errors of ``SocketError``, of TLS, or ``InletError/Code/disconnected``.
    func flush() throws(InletError) {
        guard let channel = try connected() else { return }
        if channel.wantsOutput { try channel.flush() }
        try channel.writeAll(&output)
    }

    /// Reads bytes that have arrived.
    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome {
        guard let channel = try connected() else { return .wouldBlock }
        return unsafe try channel.read(into: target)
    }

    /// Reads bytes that have arrived, as far as the buffer has room, and passes them on.
    ///
    /// - Parameter take: called with the bytes, which are valid during the call.
    func read(
        into buffer: inout [UInt8], _ take: (RawSpan) throws(InletError) -> Void
    ) throws(InletError) -> ReadOutcome {
        var outcome = Result<ReadOutcome, InletError>.success(.wouldBlock)
        unsafe buffer.withUnsafeMutableBytes { target in
            do throws(InletError) {
                let read = unsafe try self.read(into: target)
                outcome = .success(read)
                guard case .bytes(let count) = read else { return }
                try take(unsafe UnsafeRawBufferPointer(rebasing: target[..<min(count, target.count)]).bytes)
            } catch {
                outcome = .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Returns the channel if its TCP connection is established.
    private func connected() throws(InletError) -> (any ByteChannel)? {
        switch state {
        case .connected(let channel): return channel
        case .connecting(let socket):
            var polled = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&polled, 1, 0) > 0 else { return nil }
            if let number = socket.connectionError { throw SocketError.error(number, operation: "connect") }
            let channel = try dialing.secured(socket)
            state = .connected(channel)
            return channel
        }
    }
}
