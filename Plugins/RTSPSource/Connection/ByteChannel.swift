import InletCore

// Unsafe: reads into and writes from memory that the caller lends.
/// A connection that carries bytes both ways and never blocks: TCP, TLS over TCP, HTTP or a WebSocket over either.
///
/// Confined to one thread at a time.
protocol ByteChannel: AnyObject {
    /// The descriptor to poll. Any call may replace it by another one.
    var descriptor: Int32 { get }

    /// A second descriptor to poll, which is read and written by the same calls; nil if there is nothing to wait for on
    /// one. The default is nil.
    var second: PolledDescriptor? { get }

    /// Whether the channel waits until it can send, to continue a handshake or to send accepted bytes.
    var wantsOutput: Bool { get }

    /// Whether the channel can send bytes: not while a handshake waits for the other side.
    var canSend: Bool { get }

    /// Whether bytes have arrived that polling ``descriptor`` does not show.
    var hasBuffered: Bool { get }

    /// Reads the bytes that have arrived.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the connection broke; ``InletError/Code/tlsFailed`` if TLS could
    ///   not be agreed on.
    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome

    /// Sends as many of the bytes as the system takes now.
    ///
    /// - Returns: the number of bytes sent.
    /// - Throws: as ``read(into:)``.
    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int

    /// Continues with the channel's own bytes to send. Called when ``descriptor`` can be written to, or ``second`` is
    /// ready.
    func flush() throws(InletError)
}

extension ByteChannel {
    var second: PolledDescriptor? { nil }
}

/// A descriptor and the events to wait for on it.
struct PolledDescriptor: Equatable {
    var number: Int32
    var wantsInput: Bool
    var wantsOutput: Bool
}

extension ByteChannel {
    /// Sends as many of the waiting bytes as the system takes now, and removes them.
    ///
    /// - Throws: as ``write(_:)``.
    func writeAll(_ waiting: inout [UInt8]) throws(InletError) {
        while !waiting.isEmpty {
            var failure: InletError?
            let count = unsafe waiting.withUnsafeBytes { bytes in
                do throws(InletError) {
                    return unsafe try write(bytes)
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            guard count > 0 else { return }
            waiting.removeFirst(count)
        }
    }
}

/// The result of a read that does not block.
enum ReadOutcome: Equatable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// Nothing has arrived.
    case wouldBlock
    /// The other side has ended the connection in order.
    case ended
}
