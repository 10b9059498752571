package import InletCore

/// A source of pictures that decodes a source of packets, on the thread that asks for pictures.
///
/// A packet is read on that thread, too, when one is needed. A live stream can be read on a separate thread if that one
/// does not keep up, so that decoding never delays reading. Pictures that the source yields itself are passed on.
package final class DecodingSource: FrameSource {
    private let source: any FrameSource
    private let settings: DecodingSettings
    private let thread: ReadingThread?
    /// Reads a live stream whose pictures were wanted; nil otherwise.
    private var input: PacketInput?
    private var stage: DecodeStage?
    private var pacing = SourcePacing.unpaced
    private var pacer = Pacer()
    /// Items that are not due yet; empty unless the source is played at its own speed.
    private var waiting = PlaybackQueue()
    /// The error that ended the stream, reported when the decoder has output everything before it.
    private var failure: InletError?
    /// Whether the source has given its last packet.
    private var isAtEnd = false
    /// Whether the decoder has given its last picture, too.
    private var hasEnded = false

    /// The thread on which a live stream is read while decoding takes too long to do both on one thread.
    package struct ReadingThread: Sendable {
        var start: @Sendable (@escaping @Sendable () -> Void) throws -> Void
        var interrupt: @Sendable () -> Void

        /// - Parameters:
        ///   - start: runs a function once, on a new thread.
        ///   - interrupt: cancels the source's context and wakes the thread that waits for its
        ///     ``SourceContext/wakeUpDescriptor``.
        package init(
            start: @escaping @Sendable (@escaping @Sendable () -> Void) throws -> Void,
            interrupt: @escaping @Sendable () -> Void
        ) {
            self.start = start
            self.interrupt = interrupt
        }
    }

    /// - Parameters:
    ///   - source: the source of packets; opened, read and closed only by this one.
    ///   - settings: how to decode.
    ///   - thread: the thread for reading a live stream if decoding takes too long. The default, nil, always reads on
    ///     the thread that asks for pictures.
    package init(_ source: any FrameSource, _ settings: DecodingSettings, readOn thread: ReadingThread? = nil) {
        self.source = source
        self.settings = settings
        self.thread = thread
    }

    package func open(_ context: SourceContext) throws -> SourceFormat {
        var format = try source.open(context)
        pacing = format.pacing
        if let stream = format.packetStream {
            stage = try DecodeStage(stream, of: format, settings, context)
            format.hasPackets = true
            format.packetStream = nil
        }
        return format
    }

    package func next(_ context: SourceContext) throws -> SourceItem? {
        guard let stage else { return try source.next(context) }
        stage.followDemand(context)
        let dropped = context.dropCounts[.damaged] ?? 0
        while true {
            try checkTime(stage, context, droppedBefore: dropped)
            // A decoder that gets only key frames outputs each as soon as its packet has been read.
            let picturesFollow = stage.demand.pictures && !stage.demand.keyFramesOnly && !hasEnded
            if let item = waiting.take(picturesFollow: picturesFollow) {
                return try pace(item, context)
            }
            guard !hasEnded else { return try end(stage) }
            switch try stage.take(context) {
            case .item(let item):
                guard pacing == .realtime else { return item }
                waiting.add(item)
            // A loss among the last pictures resets the decoder, which then asks for packets again.
            case .needsPacket where isAtEnd: hasEnded = true
            case .needsPacket: try read(stage, context, droppedBefore: dropped)
            case .keptBack: break
            case .ended: hasEnded = true
            }
        }
    }

    /// Passes one packet to the stage, or records the end of the packets.
    private func read(_ stage: DecodeStage, _ context: SourceContext, droppedBefore before: UInt64) throws {
        do {
            beginInput(stage, context)
            if let input {
                if let taken = try input.take(mayBlock: stage.demand.isLossless) {
                    return try stage.put(
                        taken.packet, waiting: (taken.waiting, hasKey: taken.precedesKey), context)
                }
            } else {
                switch try source.next(context) {
                case .packet(let packet):
                    if packet.isKey { context.noteKeyFrame() }
                    return try stage.put(packet, context)
                case .frame: return
                case nil: break
                }
            }
            isAtEnd = true
            stage.finish()
        } catch {
            // There may be a better error than that the time is up.
            try checkTime(stage, context, droppedBefore: before)
            failure = InletError(wrapping: error, operation: "The source")
            isAtEnd = true
            stage.finish()
        }
    }

    /// Lets a live stream be read apart from the first time that pictures are wanted: packets that are passed on
    /// unchanged delay nothing, and need no further thread.
    private func beginInput(_ stage: DecodeStage, _ context: SourceContext) {
        guard input == nil, pacing == .live, stage.demand.pictures, let thread else { return }
        input = PacketInput(source, readOn: thread, context)
    }

    /// Holds an item back until it is due. Unless the source states other times, the time at which it was due is its
    /// capture time, so that a busy machine does not change the spacing of timestamps.
    private func pace(_ item: SourceItem, _ context: SourceContext) throws(InletError) -> SourceItem {
        switch item {
        case .frame(var frame):
            guard let pts = frame.pts else { return item }
            let due = try pacer.wait(
                for: pts, startsAnew: frame.flags.contains(.discontinuity), context: context)
            frame.captureTime = frame.captureTime ?? due
            return .frame(frame)
        case .packet(var packet):
            guard let dts = packet.dts else { return item }
            let due = try pacer.wait(for: dts, startsAnew: false, context: context)
            if packet.receiveTime == nil { packet.captureTime = packet.captureTime ?? due }
            return .packet(packet)
        }
    }

    /// - Throws: as ``SourceContext/checkCancellation()``; if packets arrive but yield no picture, the error reports
    ///   this.
    private func checkTime(
        _ stage: DecodeStage, _ context: SourceContext, droppedBefore before: UInt64
    ) throws(InletError) {
        guard context.shouldGiveUp else { return }
        let dropped = (context.dropCounts[.damaged] ?? 0) &- before
        if !context.isCancelled, dropped > 0 {
            throw InletError(
                .timedOut,
                "Packets arrive, but \(dropped) in a row gave no complete picture: too many are lost. Use a transport without losses, such as transport=tcp of a network camera."
            )
        }
        if !context.isCancelled, stage.pictures == 0, stage.refusals > 0 {
            throw InletError(
                .timedOut,
                "Packets arrive, but no key frame among \(stage.refusals). Make the camera send key frames more often. If it refreshes its pictures gradually instead, damage=automatic shows them, marked as damaged."
            )
        }
        if !context.isCancelled, let received = stage.received, context.clock.now - received < Self.recently {
            throw InletError(
                .timedOut, "Packets arrive, but none of them gives a picture. Check the stream with ffprobe.")
        }
        try context.checkCancellation()
    }

    /// How recent a packet must be to show that packets arrive.
    private static let recently = Duration.seconds(1)

    /// Ends the stream with the error that ended the source, if there was one, or if nothing at all could be decoded.
    private func end(_ stage: DecodeStage) throws -> SourceItem? {
        if let failure { throw failure }
        guard stage.pictures == 0, stage.packets == 0 else { return nil }
        if stage.startsAfterEnd {
            throw InletError(
                .invalidConfiguration, "The file ends before the time at which to start. Choose an earlier start.")
        }
        throw InletError(
            .malformedData, "Not one picture could be decoded: the file is cut or damaged. Check it with ffprobe.")
    }

    package func pause(_ context: SourceContext) throws -> Bool {
        if let input { try input.pause() } else { try source.pause(context) }
    }

    /// Continues at the same position: packets that were due in the pause are due now.
    package func resume(_ context: SourceContext) throws {
        pacer = Pacer()
        if let input { try input.resume() } else { try source.resume(context) }
        if pacing == .live { stage?.lose(context, hasQueue: false) }
    }

    package func close() {
        stage = nil
        input?.stop()
        input = nil
        source.close()
    }
}
