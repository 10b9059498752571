import InletCore

/// Reads the packets of a live source for the thread that decodes them: on that thread while it keeps up, otherwise on
/// a separate thread (``ReadingPlace``).
///
/// Confined to one thread at a time.
final class PacketInput {
    private let source: any FrameSource
    private let context: SourceContext
    private let thread: DecodingSource.ReadingThread
    private var place: ReadingPlace
    /// Reads on another thread; nil until that was needed.
    private var reader: PacketReader?
    /// Whether ``reader`` leaves the source to this thread.
    private var isReaderIdle = true
    /// Whether the source has ended, or failed.
    private var hasEnded = false

    /// - Parameters:
    ///   - source: an open source, used only by this input until ``stop()``.
    ///   - thread: where to read if decoding takes too long.
    ///   - place: decides when that is. The default is for network streams and cameras.
    init(
        _ source: any FrameSource, readOn thread: DecodingSource.ReadingThread,
        place: ReadingPlace = ReadingPlace(), _ context: SourceContext
    ) {
        self.source = source
        self.place = place
        self.thread = thread
        self.context = context
    }

    /// Returns the next packet. Blocks until a packet is available.
    ///
    /// - Parameter mayBlock: whether the caller may be away for any time, as when a source waits for its sink. The
    ///   default is false.
    /// - Returns: nil at the end.
    /// - Throws: the error of the source, once all packets were taken.
    func take(mayBlock: Bool = false) throws -> PacketQueue.Taken? {
        place.noteRequest(at: context.clock.now, mayBlock: mayBlock)
        guard let taken = try takeFromReader() ?? readHere() else { return nil }
        place.notePacket(waiting: taken.waiting, at: context.clock.now)
        return taken
    }

    /// Returns a packet that the other thread has read; nil if this thread is to read.
    private func takeFromReader() throws -> PacketQueue.Taken? {
        if place.isApart { try letReaderRead() }
        guard !isReaderIdle, let reader else { return nil }
        if !place.isApart { reader.relinquish() }
        switch try reader.take() {
        case .packet(let taken): return taken
        case .relinquished: isReaderIdle = true
        case .ended: hasEnded = true
        }
        return nil
    }

    /// If the system cannot create a thread, this one continues to read, and tries again with the next packet.
    private func letReaderRead() throws {
        guard isReaderIdle, !hasEnded else { return }
        if let reader {
            try reader.resume()
        } else {
            let reader = PacketReader(source, context)
            guard (try? reader.start(on: thread.start)) != nil else { return }
            self.reader = reader
        }
        isReaderIdle = false
    }

    private func readHere() throws -> PacketQueue.Taken? {
        while !hasEnded {
            // Unless there is a packet.
            hasEnded = true
            switch try source.next(context) {
            case .packet(let packet):
                hasEnded = false
                if packet.isKey { context.noteKeyFrame() }
                return PacketQueue.Taken(packet: packet, precedesKey: false, waiting: 0)
            case .frame: hasEnded = false
            case nil: break
            }
        }
        return nil
    }

    /// Pauses the source, as ``FrameSource/pause(_:)``. Packets that were read and not taken are discarded.
    func pause() throws -> Bool {
        // The next `take` reports the end.
        guard !hasEnded else { return true }
        return if isReaderIdle { try source.pause(context) } else { try reader?.pause() ?? false }
    }

    /// Resumes the source, as ``FrameSource/resume(_:)``.
    func resume() throws {
        guard !hasEnded else { return }
        place.noteResume()
        if isReaderIdle { try source.resume(context) } else { try reader?.resume() }
    }

    /// Stops the other thread, if there is one; the source can be closed then.
    func stop() {
        guard let reader else { return }
        thread.interrupt()
        reader.stop()
        self.reader = nil
    }
}
