import InletCore
import NIOCore

/// Sends a recording to a client, one piece at a time. Confined to the server's thread; the disk is read on a lane.
final class FileDownload {
    private let loop: any EventLoop
    private var reader: RecordingReader?
    private var lane: FileLane?
    private var offset = 0
    private var last = 0
    private var send: (ByteBuffer) -> Void = { _ in }
    private var end: () -> Void = {}

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Sends the first piece of a range of the file's bytes. ``next()`` sends each further piece.
    func begin(
        _ reader: RecordingReader, on lane: FileLane, _ range: Range<Int>, send: @escaping (ByteBuffer) -> Void,
        end: @escaping () -> Void
    ) {
        (self.reader, self.lane, self.send, self.end) = (reader, lane, send, end)
        (offset, last) = (range.lowerBound, range.upperBound)
        next()
    }

    /// Sends the next piece, or ends the stream after the last one.
    func next() {
        guard let reader, let lane else { return }
        guard offset < last else { return end() }
        let (offset, last) = (offset, last)
        lane.run(for: loop) { reader.piece(at: offset, before: last) }.assumeIsolated().whenComplete {
            [weak self] result in
            guard let self, self.reader != nil else { return }
            // The file has become shorter: the client notices that bytes are missing.
            guard let piece = try? result.get() else { return end() }
            self.offset += piece.readableBytes
            send(piece)
        }
    }

    /// Stops sending.
    func cancel() {
        let (reader, lane) = (reader, lane)
        (self.reader, self.lane, send, end) = (nil, nil, { _ in }, {})
        if let reader { lane?.release(reader) }
    }
}
