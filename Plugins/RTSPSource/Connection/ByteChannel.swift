import InletCore

/// A connection that carries bytes both ways and never blocks: TCP, TLS over TCP, or RTSP in HTTP.
///
/// Confined to one thread at a time.
protocol ByteChannel: AnyObject {
    /// The descriptor to poll.
    var descriptor: Int32 { get }

    /// Whether the channel waits until it can send, to continue a handshake or to send what was accepted.
    var wantsOutput: Bool { get }

    /// Whether the channel can send bytes: not while a handshake waits for the other side.
    var canSend: Bool { get }

    /// Whether bytes have arrived that polling ``descriptor`` does not show.
    var hasBuffered: Bool { get }

    /// Reads what has arrived.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the connection broke; ``InletError/Code/tlsFailed`` if TLS could
    ///   not be agreed on.
    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome

    /// Sends as many of the bytes as the system takes now.
    ///
    /// - Returns: how many.
    /// - Throws: as ``read(into:)``.
    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int

    /// Continues with what the channel itself has to send. Called when ``descriptor`` can be written to.
    func flush() throws(InletError)
}

/// The result of a read that does not block.
enum ReadOutcome: Equatable {
    /// So many bytes, at least one.
    case bytes(Int)
    /// Nothing has arrived.
    case wouldBlock
    /// The other side has ended the connection in order.
    case ended
}
