import InletCore
import NIOCore

/// Hands a recording to a client, a piece at a time. Confined to the server's thread; the disk is read elsewhere.
final class FileDownload {
    private let loop: any EventLoop
    private var reader: RecordingReader?
    private var offset = 0
    private var last = 0
    private var send: (ByteBuffer) -> Void = { _ in }
    private var end: () -> Void = {}

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Sends the first piece of a range of the file's bytes. ``next()`` sends each further one.
    func begin(
        _ reader: RecordingReader, _ range: Range<Int>, send: @escaping (ByteBuffer) -> Void, end: @escaping () -> Void
    ) {
        (self.reader, self.send, self.end) = (reader, send, end)
        (offset, last) = (range.lowerBound, range.upperBound)
        next()
    }

    /// Sends the next piece, or ends behind the last.
    func next() {
        guard let reader else { return }
        guard offset < last else { return end() }
        let promise = loop.makePromise(of: ByteBuffer?.self)
        let (offset, last) = (offset, last)
        Task { promise.succeed(reader.piece(at: offset, before: last)) }
        promise.futureResult.assumeIsolated().whenSuccess { [weak self] piece in
            guard let self, self.reader != nil else { return }
            // A file that has become shorter: the client sees that it lacks something.
            guard let piece else { return end() }
            self.offset += piece.readableBytes
            send(piece)
        }
    }

    /// Sends nothing more.
    func cancel() { (reader, send, end) = (nil, { _ in }, {}) }
}
