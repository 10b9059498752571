import InletConvert
public import InletCore
import InletSystem
import Synchronization

/// Accepts an application's own pictures or packets from any thread, and delivers them as a source: for example the
/// pictures of a screen, a game, a filter or a model.
///
///     let injector = try FrameInjector()
///     let capturer = Capturer(InjectedSourceConfiguration(injector))
///     try injector.push(buffer, pts: pts)
///
/// It outlives its sources: each retry of a capturer creates a new source, which continues with the queued items. One
/// source reads it at a time. A push does not copy a picture that has an owner, never waits for a reader, and holds no
/// lock while it runs code of the application. If the source is waiting for a picture, the push itself puts the
/// picture into the sinks' queues, which saves the detour through the source's thread. Safe from any thread.
public final class FrameInjector: Sendable {
    /// The configuration with which it was created.
    public let configuration: InjectorConfiguration
    let converter = FrameConverter()
    let pool: I420BufferPool
    private let shared: Mutex<Shared>

    private struct Shared: Sendable {
        var state: InjectorState
        var reader: InjectorReader?
    }

    /// Creates an injector.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public init(_ configuration: InjectorConfiguration = InjectorConfiguration()) throws(InletError) {
        try configuration.validate()
        self.configuration = configuration
        pool = I420BufferPool(capacity: configuration.copies)
        shared = Mutex(Shared(state: InjectorState(configuration)))
    }

    // MARK: Pushing

    /// Pushes a picture whose memory its owner keeps alive and unwritten. Nothing is copied; I420 reaches the sinks in
    /// the same memory.
    ///
    /// The owner is released on whichever thread drops the last reference, which may be the calling one.
    ///
    /// - Parameter frame: the picture. Its ``SourceFrame/sequence`` is not used. Without a PTS, the time of the push
    ///   is used. A PTS that is less than that of the previous picture causes a drop as ``DropReason/outOfOrder``,
    ///   unless the frame has the flag ``FrameFlags/discontinuity``.
    /// - Returns: whether the picture was queued.
    /// - Throws: ``InletError/Code/malformedData`` for planes that are missing or shorter than size, pixel format and
    ///   strides require, without reading them; ``InletError/Code/unsupported`` for a pixel format that cannot be
    ///   converted; ``InletError/Code/invalidConfiguration`` for an impossible size, or if this is an injector of
    ///   packets; ``InletError/Code/resourceExhausted`` if the picture by itself exceeds
    ///   ``InjectorConfiguration/maximumBytes``.
    @discardableResult
    public func push(_ frame: SourceFrame) throws(InletError) -> InjectorOutcome {
        try counting { () throws(InletError) in
            try requirePictures()
            try FrameConverter.check(frame)
            return try enqueue(frame)
        }
    }

    /// Pushes a picture that is already I420, without copying it.
    ///
    /// - Parameters:
    ///   - buffer: the picture.
    ///   - pts: the presentation time, on any timeline that goes forward. The default, nil, means the time of the
    ///     push.
    ///   - colorSpace: how to interpret the samples as colour. The default is unspecified.
    ///   - rotation: the clockwise rotation that makes the picture upright. The default is no rotation.
    /// - Returns: whether the picture was queued.
    /// - Throws: as ``push(_:)-(SourceFrame)``.
    @discardableResult
    public func push(
        _ buffer: I420Buffer, pts: MediaTime? = nil, colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none
    ) throws(InletError) -> InjectorOutcome {
        try push(SourceFrame(buffer, pts: pts, sequence: 0, colorSpace: colorSpace, rotation: rotation, flags: .key))
    }

    /// Pushes a packet: a complete access unit. Packets are pushed in decoding order.
    ///
    /// - Parameter packet: the packet, with the codec and time base of ``InjectorConfiguration/packetStream``.
    /// - Returns: whether the packet was queued. If the queue is full, this packet and all up to the next key frame
    ///   are dropped, and a key frame is requested (``InjectorWants/keyFrameRequests``), which gets the flag
    ///   ``PacketFlags/loss``.
    /// - Throws: ``InletError/Code/malformedData`` for a packet without data, ``InletError/Code/formatChanged`` for a
    ///   different codec or time base, ``InletError/Code/invalidConfiguration`` if this is an injector of pictures,
    ///   ``InletError/Code/resourceExhausted`` as for pictures.
    @discardableResult
    public func push(_ packet: SourcePacket) throws(InletError) -> InjectorOutcome {
        try counting { () throws(InletError) in
            guard let stream = configuration.packetStream else {
                throw InletError(
                    .invalidConfiguration,
                    "This injector accepts only pictures. Create one for packets with InjectorConfiguration(packets:).")
            }
            guard packet.data.count > 0 else { throw InletError(.malformedData, "The pushed packet has no data.") }
            guard packet.parameters.codec == stream.parameters.codec,
                packet.parameters.timeBase == stream.parameters.timeBase
            else {
                throw InletError(
                    .formatChanged,
                    "The injector has \(stream.parameters.codec) in \(stream.parameters.timeBase); the packet has "
                        + "\(packet.parameters.codec) in \(packet.parameters.timeBase). Create another injector for it."
                )
            }
            try requireRoom(for: packet.data.count)
            var packet = packet
            let now = MonotonicTime.now
            packet.receiveTime = packet.receiveTime ?? now
            packet.pts = packet.pts?.rescaled(to: configuration.timeBase)
            packet.dts = packet.dts?.rescaled(to: configuration.timeBase)
            return push(.packet(packet), bytes: packet.data.count, at: now)
        }
    }

    /// Queues a checked picture.
    func enqueue(_ frame: SourceFrame) throws(InletError) -> InjectorOutcome {
        var bytes = 0
        for index in 0..<frame.planes.count {
            bytes = bytes.adding(saturating: frame.planes[index]?.byteCount ?? 0)
        }
        try requireRoom(for: bytes)
        var frame = frame
        let now = MonotonicTime.now
        frame.captureTime = frame.captureTime ?? now
        frame.pts = frame.pts?.rescaled(to: configuration.timeBase)
        frame.duration = frame.duration?.rescaled(to: configuration.timeBase)
        return push(.frame(frame), bytes: bytes, at: now)
    }

    private func push(_ item: SourceItem, bytes: Int, at now: MonotonicTime) -> InjectorOutcome {
        var (push, reader) = shared.withLock { shared in
            (shared.state.push(item, bytes: bytes, at: now, handsOver: shared.reader?.handsOver == true), shared.reader)
        }
        if push.isForHandOver, let taker = reader {
            let isTaken = taker.take(item)
            (push, reader) = shared.withLock {
                ($0.state.handedOver(item, bytes: bytes, taken: isTaken), $0.reader)
            }
        }
        if case .dropped(let reason) = push.outcome { reader?.context.countDrop(reason) }
        reader?.context.countDrop(push.reason, push.evictions)
        if push.wakesReader { reader?.bell.ring() }
        return push.outcome
    }

    func requirePictures() throws(InletError) {
        guard configuration.packetStream == nil else {
            throw InletError(.invalidConfiguration, "This injector accepts only packets. Create one for pictures.")
        }
    }

    private func requireRoom(for bytes: Int) throws(InletError) {
        guard bytes <= configuration.maximumBytes else {
            throw InletError(
                .resourceExhausted,
                "The injector queues at most \(configuration.maximumBytes) bytes, and one item has \(bytes). "
                    + "Raise InjectorConfiguration.maximumBytes.")
        }
    }

    /// Counts a push that throws as refused.
    func counting<Value>(_ body: () throws(InletError) -> Value) throws(InletError) -> Value {
        do throws(InletError) {
            return try body()
        } catch {
            shared.withLock { $0.state.noteRefusal() }
            throw error
        }
    }

    func noteCopy() { shared.withLock { $0.state.noteCopy() } }

    /// Counts a picture that was dropped because there was no memory for it.
    func dropForExhaustion() -> InjectorOutcome {
        let reader = shared.withLock {
            $0.state.noteExhaustion()
            return $0.reader
        }
        reader?.context.countDrop(.poolExhausted)
        return .dropped(.poolExhausted)
    }

    // MARK: Control

    /// Ends the stream: the source delivers the queued items, and then ends like a file. Later pushes are dropped as
    /// `injectorEnded`. This cannot be undone.
    public func end() { control { $0.end() } }

    /// Makes the source fail after the queued items. The capturer then retries according to its policy and the error's
    /// code, and the next source continues with later pushes. If there is no source, the next one fails. If called
    /// twice before that, the first error counts.
    public func fail(_ error: InletError) { control { $0.fail(error) } }

    /// Drops pushes as ``DropReason/disabled`` until ``unmute()``. Sinks are notified that the source is
    /// ``SourceCondition/interrupted``, and no time-out runs.
    ///
    /// - Parameter reason: a few words for people.
    public func mute(_ reason: String = "the application has muted its frames") { control { $0.setMuted(reason) } }

    /// Ends ``mute(_:)``.
    public func unmute() { control { $0.setMuted(nil) } }

    /// Reports that there will be no pictures for a while, for example because a window is minimized or a model is
    /// being loaded. No time-out runs until the next push or ``endInterruption()``.
    ///
    /// - Parameter reason: a few words for people.
    public func beginInterruption(_ reason: String) { control { $0.setInterruption(reason) } }

    /// Ends ``beginInterruption(_:)`` without a push: the time-out for the next picture starts again.
    public func endInterruption() { control { $0.setInterruption(nil) } }

    /// Limits pushes from now on, in addition to the limits of the sinks.
    ///
    /// - Parameters:
    ///   - maximumSize: the largest pictures that ``wants`` requests. Larger ones are still accepted, because only
    ///     their producer can make them smaller at no cost. The default, nil, is no limit.
    ///   - maximumFrameRate: the maximum number of pictures per second. If more are pushed, evenly spaced ones are
    ///     queued, by their PTS or the time of the push, and the others are dropped as ``DropReason/rateLimited``. The
    ///     default, nil, is no limit. Packets are not affected.
    public func adapt(maximumSize: ImageSize? = nil, maximumFrameRate: Rational? = nil) {
        shared.withLock { $0.state.adapt(maximumSize: maximumSize, maximumFrameRate: maximumFrameRate) }
    }

    /// The items that are currently useful to push. Cheap enough to read before each picture.
    public var wants: InjectorWants {
        var wants = InjectorWants()
        let (reader, size, rate) = shared.withLock { shared in
            wants.isActive = shared.reader != nil && !shared.state.isPaused && !shared.state.isMuted
            wants.keyFrameRequests = shared.state.keyFrameRequests
            return (shared.reader, shared.state.maximumSize, shared.state.maximumFrameRate)
        }
        if let reader { wants.demand = reader.context.demand }
        if let size {
            wants.demand.largestSize =
                wants.demand.largestSize.map {
                    ImageSize(width: min($0.width, size.width), height: min($0.height, size.height))
                } ?? size
        }
        if let rate { wants.demand.maximumFrameRate = wants.demand.maximumFrameRate.map { min($0, rate) } ?? rate }
        return wants
    }

    /// The statistics so far.
    public var statistics: InjectorStatistics { shared.withLock { $0.state.figures } }

    private func control(_ body: (inout InjectorState) -> Bool) {
        let reader = shared.withLock { body(&$0.state) ? $0.reader : nil }
        reader?.bell.ring()
    }

    // MARK: The reader

    /// - Throws: ``InletError/Code/busy`` if another source reads the injector.
    func attach(_ reader: InjectorReader) throws(InletError) {
        let isFree = shared.withLock { shared in
            guard shared.reader == nil else { return false }
            shared.reader = reader
            shared.state.noteOpening()
            return true
        }
        guard isFree else {
            throw InletError(
                .busy,
                "Another capturer already reads this injector. Attach all sinks to that capturer.")
        }
    }

    func detach(_ reader: InjectorReader) {
        let ended = shared.withLock { shared -> InjectorReader? in
            guard shared.reader === reader else { return nil }
            shared.state.noteClosing()
            defer { shared.reader = nil }
            return shared.reader
        }
        withExtendedLifetime(ended) {}
    }

    func peek() -> InjectorState.Turn { shared.withLock { $0.state.peek() } }

    func take() -> InjectorState.Turn { shared.withLock { $0.state.take() } }

    func setPaused(_ isPaused: Bool) { shared.withLock { $0.state.setPaused(isPaused) } }

    func noteKeyFrameRequests(_ count: Int) { shared.withLock { $0.state.keyFrameRequests &+= count } }

    /// Records a repetition. Returns false if an item was pushed meanwhile.
    func repeats(at time: MediaTime?) -> Bool { shared.withLock { $0.state.repeats(at: time) } }
}

/// The source that reads an injector, as its other threads see it.
final class InjectorReader: Sendable {
    let context: SourceContext
    /// Wakes the source.
    let bell: Doorbell
    /// Whether a picture for which the source waits can be passed to the sinks without the source's thread.
    let handsOver: Bool
    private let sequence = Atomic(UInt64(0))

    init(_ context: SourceContext, handsOver: Bool) throws(InletError) {
        self.context = context
        self.handsOver = handsOver
        bell = try Doorbell()
    }

    /// The number of the next picture.
    func nextSequence() -> UInt64 { sequence.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Passes a picture to the sinks on behalf of the source, which waits meanwhile.
    ///
    /// - Returns: false if the source itself must deliver it.
    func take(_ item: SourceItem) -> Bool {
        guard var frame = item.frame else { return false }
        frame.sequence = sequence.load(ordering: .relaxed)
        guard context.handOver(frame) else { return false }
        sequence.wrappingAdd(1, ordering: .relaxed)
        return true
    }
}
