import InletCore

// Unsafe: reads into and writes from memory that the caller lends.
/// A connection that carries bytes in both directions and never blocks: TCP, TLS over TCP, HTTP or a WebSocket over
/// either.
///
/// Confined to one thread at a time.
protocol ByteChannel: AnyObject {
    /// The descriptor to poll. Any call may replace it.
    var descriptor: Int32 { get }

    /// A second descriptor to poll, which the same calls read and write; nil if there is nothing to wait for on it.
    /// The default is nil.
    var second: PolledDescriptor? { get }

    /// Whether the channel must be able to send, to continue a handshake or to send accepted bytes.
    var wantsOutput: Bool { get }

    /// Whether the channel can send bytes, which it cannot while a handshake waits for the other side.
    var canSend: Bool { get }

    /// Whether bytes have arrived that polling ``descriptor`` does not reveal.
    var hasBuffered: Bool { get }

    /// Reads bytes that have arrived.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the connection broke; ``InletError/Code/tlsFailed`` if the TLS
    ///   handshake failed.
    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome

    /// Sends as many of the bytes as the system accepts now.
    ///
    /// - Returns: the number of bytes sent.
    /// - Throws: as ``read(into:)``.
    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int

    /// Continues to send the channel's own bytes. Called when ``descriptor`` is writable or ``second`` is ready.
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
    /// Sends as many of the waiting bytes as the system accepts now, and removes them.
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
    /// The number of bytes read, at least one.
    case bytes(Int)
    /// Nothing has arrived.
    case wouldBlock
    /// The other side has closed the connection normally.
    case ended
}
