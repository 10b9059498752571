import InletCore
import NIOCore

/// Hands a recording to a client, a piece at a time. Confined to the server's thread; the disk is read on a lane.
final class FileDownload {
    private let loop: any EventLoop
    private var reader: RecordingReader?
    private var lane: FileLane?
    private var offset = 0
    private var last = 0
    private var send: (ByteBuffer) -> Void = { _ in }
    private var end: () -> Void = {}

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Sends the first piece of a range of the file's bytes. ``next()`` sends each further one.
    func begin(
        _ reader: RecordingReader, on lane: FileLane, _ range: Range<Int>, send: @escaping (ByteBuffer) -> Void,
        end: @escaping () -> Void
    ) {
        (self.reader, self.lane, self.send, self.end) = (reader, lane, send, end)
        (offset, last) = (range.lowerBound, range.upperBound)
        next()
    }

    /// Sends the next piece, or ends behind the last.
    func next() {
        guard let reader, let lane else { return }
        guard offset < last else { return end() }
        let (offset, last) = (offset, last)
        lane.run(for: loop) { reader.piece(at: offset, before: last) }.assumeIsolated().whenComplete {
            [weak self] result in
            guard let self, self.reader != nil else { return }
            // A file that has become shorter: the client sees that it lacks something.
            guard let piece = try? result.get() else { return end() }
            self.offset += piece.readableBytes
            send(piece)
        }
    }

    /// Sends nothing more.
    func cancel() {
        let (reader, lane) = (reader, lane)
        (self.reader, self.lane, send, end) = (nil, nil, { _ in }, {})
        if let reader { lane?.release(reader) }
    }
}
