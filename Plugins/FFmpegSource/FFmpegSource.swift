import InletCore
import InletFFmpeg

/// Reads and decodes a file or a network stream: demuxer, decoder and pacer, one after another on the capture thread.
final class FFmpegSource: FrameSource {
    private let input: FFmpegInput
    private var demuxer: Demuxer?
    private var decoder: FFmpegDecoder?
    private var pacer = Pacer()
    private var pacing = SourcePacing.unpaced
    private var gate: PictureGate
    private var selection: PacketSelection?
    private var demand = SourceDemand.everything
    private var demandVersion = -1
    private var phase = Phase.reading
    /// What ended the stream, told when the decoder has given out what came before.
    private var failure: InletError?
    private var sequence: UInt64 = 0
    /// Decoding times, for containers that have none; nil for a live stream, whose times are the sender's or none.
    private var timestamps: TimestampGuess?
    private var passes: FilePasses
    private var audit: RateAudit?
    private var handover = PacketHandover()
    /// When the packet that was decoded last had been read, and the sender's time of day for it in nanoseconds.
    private var received: (time: MonotonicTime, wallClock: Int64?)?

    private enum Phase {
        case reading
        /// The decoder gives out all that it holds, and is given packets again afterwards.
        case emptying
        case draining
        case ended
    }

    init(_ input: FFmpegInput) {
        self.input = input
        gate = PictureGate(input.damage, isLive: false, timeBase: Rational(1))
        passes = FilePasses(repetitions: input.loop)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let demuxer = try Demuxer(input, context: context)
        self.demuxer = demuxer
        pacing = demuxer.pacing
        let isLive = pacing == .live
        gate = PictureGate(input.damage, isLive: isLive, timeBase: demuxer.stream.timeBase)
        var options = FFmpegDecoder.Options()
        options.threads = input.threads ?? (isLive ? 1 : 0)
        options.isLowDelay = isLive
        options.showsDamaged = input.damage != .drop
        options.maximumPixels = input.limits.pixels
        let decoder = try demuxer.makeDecoder(options)
        self.decoder = decoder
        audit = input.limits.frameRate.map { RateAudit(most: $0, timeBase: demuxer.stream.timeBase) }
        selection = PacketSelection(timeBase: demuxer.stream.timeBase, known: demuxer.keyFrameDistances)
        timestamps = isLive ? nil : TimestampGuess(demuxer.stream, reorderDepth: decoder.reorderDepth)
        if input.start > .zero, let start = try demuxer.seek(to: input.start) { gate.begin(at: start) }
        handover = PacketHandover(
            demuxer.codecParameters, reorderDepth: decoder.reorderDepth, limits: input.limits)
        var format = demuxer.format
        format.hasPackets = true
        return format
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let demuxer, let decoder else { return nil }
        followDemand(context, decoder, demuxer.stream)
        let dropped = context.dropCounts[.damaged] ?? 0
        while true {
            try checkTime(context, droppedBefore: dropped)
            switch try decoder.receive() {
            case .frame(let frame):
                guard let frame = try accept(frame, decoder, demuxer, context) else { continue }
                if pacing == .realtime, let pts = frame.pts {
                    try pacer.wait(for: pts, startsAnew: frame.flags.contains(.discontinuity), context: context)
                }
                return .frame(frame)
            case .undecodable:
                try noteUndecodable(decoder, context)
            case .needsInput:
                if let packet = try nextPacket(context) { return packet }
                if let failure { throw failure }
                do throws(InletError) {
                    try feed(decoder, from: demuxer, context: context)
                } catch {
                    // There may be more to say than that the time is up.
                    try checkTime(context, droppedBefore: dropped)
                    failure = error
                    phase = .draining
                    handover.release()
                    decoder.sendEnd()
                }
            case .ended where phase == .emptying:
                decoder.flush()
                phase = .reading
            case .ended:
                if let packet = try nextPacket(context) { return packet }
                if let failure { throw failure }
                guard try beginAgain(decoder, demuxer) else { return try end() }
            }
        }
    }

    /// The next packet to be handed out as it is.
    private func nextPacket(_ context: SourceContext) throws -> SourceItem? {
        guard let packet = handover.take() else { return nil }
        if pacing == .realtime, !demand.pictures, let dts = packet.dts {
            try pacer.wait(for: dts, startsAnew: false, context: context)
        }
        return .packet(packet)
    }

    /// - Throws: as ``SourceContext/checkCancellation()``; where packets come and none gives a picture, it says so.
    private func checkTime(_ context: SourceContext, droppedBefore before: UInt64) throws(InletError) {
        guard context.shouldGiveUp else { return }
        let dropped = (context.dropCounts[.damaged] ?? 0) - before
        if !context.isCancelled, dropped > 0 {
            throw InletError(
                .timedOut,
                "Packets come, but \(dropped) in a row gave no whole picture: too many are lost. Try transport=tcp, or damaged=mark."
            )
        }
        if !context.isCancelled, sequence == 0, gate.refusals > 0 {
            throw InletError(
                .timedOut,
                "Packets come, but no key frame among \(gate.refusals). Have the camera send key frames more often.")
        }
        if !context.isCancelled, let received, context.clock.now - received.time < Self.recently {
            throw InletError(
                .timedOut, "Packets come, but none of them gives a picture. Check the stream with ffprobe.")
        }
        try context.checkCancellation()
    }

    /// A packet that came no longer ago shows that packets come.
    private static let recently = Duration.seconds(1)

    /// A file stands still by not being read; a server is asked to wait, and the stream is closed where it cannot.
    func pause(_ context: SourceContext) throws -> Bool { demuxer?.pause() ?? false }

    /// Goes on from where it was: what was due in the pause is due now.
    func resume(_ context: SourceContext) throws {
        pacer = Pacer()
        try demuxer?.play()
        if pacing == .live, let decoder { lose(decoder) }
    }

    func close() {
        decoder = nil
        demuxer = nil
    }

    // MARK: Packets

    /// Gives the decoder one packet, or the word that there are no more.
    private func feed(_ decoder: FFmpegDecoder, from demuxer: Demuxer, context: SourceContext) throws(InletError) {
        guard phase == .reading else { return }
        guard let packet = try demuxer.nextPacket(context) else {
            phase = .draining
            handover.release()
            decoder.sendEnd()
            return
        }
        var facts = PictureGate.Packet(isKey: packet.isKey, pts: packet.pts, dts: packet.dts)
        if gate.stepsBack(facts) {
            handover.stepBack()
            audit?.reset()
        }
        if pacing == .live {
            let now = context.clock.now
            received = (now, packet.wallClock)
            try audit?.note(packet.pts ?? packet.dts, arrival: now)
            // The packet that comes with the news of a loss may lack its own end, or hold a piece of the next.
            facts.lacksSomething = demuxer.takeLosses() > 0 || packet.isCorrupt
            if facts.lacksSomething { lose(decoder) }
        }
        if case .keepBack(let reason) = gate.admit(facts) {
            if let reason { context.countDrop(reason) }
            return
        }
        timestamps?.complete(packet)
        let time = packet.pts ?? packet.dts
        if demand.packets {
            try handover.put(packet, offset: passes.offset, received: pacing == .live ? received?.time : nil)
            for (reason, count) in handover.takeDrops() { context.countDrop(reason, count) }
        }
        switch handover.fate(isKey: packet.isKey, pictures: demand.pictures || !demand.packets) {
        case .decode: break
        case .pass:
            if let time { passes.note(time, length: packet.duration) }
            return
        case .decodeAnew:
            // What the decoder knows is from before a gap.
            decoder.flush()
            selection?.reset()
            gate.resume(at: facts)
        }
        switch selection?.fate(isKey: packet.isKey, time: time, wanted: demand.maximumFrameRate) ?? .decode {
        case .pass: return
        case .passAndDrain:
            decoder.sendEnd()
            phase = .emptying
            return
        case .decodeAlone:
            try send(packet, to: decoder, context)
            decoder.sendEnd()
            phase = .emptying
            return
        case .decodeAnew: gate.resume(at: facts)
        case .decode: break
        }
        try send(packet, to: decoder, context)
    }

    private func send(
        _ packet: FFmpegPacket, to decoder: FFmpegDecoder, _ context: SourceContext
    ) throws(InletError) {
        if decoder.send(packet) < 0 { try noteUndecodable(decoder, context) }
    }

    /// A packet gave no picture.
    ///
    /// - Throws: ``InletError/Code/unsupported`` where that is because its picture is too large.
    private func noteUndecodable(_ decoder: FFmpegDecoder, _ context: SourceContext) throws(InletError) {
        context.countDrop(.undecodable)
        guard pacing == .live else { return }
        if FFmpegLogging.takeFacts().isOversized { throw input.limits.refusal("The pictures have") }
        lose(decoder)
    }

    /// Something of the stream is missing: no picture before the next key frame can be whole.
    private func lose(_ decoder: FFmpegDecoder) {
        gate.noteLoss()
        guard input.damage == .drop else { return }
        handover.lose()
        decoder.flush()
        selection?.reset()
        phase = .reading
    }

    /// Looks at what the sinks want now.
    private func followDemand(_ context: SourceContext, _ decoder: FFmpegDecoder, _ stream: StreamFacts) {
        let version = context.demandVersion
        guard version != demandVersion else { return }
        demandVersion = version
        let hadPackets = demand.packets
        demand = context.demand
        // What comes meanwhile is not seen, and not missed.
        if hadPackets, !demand.packets {
            handover.lose()
            _ = handover.takeDrops()
        }
        // Up to three pictures in a row to which no other refers are usual; beyond that the ones that are left are close enough.
        let spacing = demand.maximumFrameRate.flatMap { wanted in
            stream.frameRate.map { $0.doubleValue / wanted.doubleValue }
        }
        decoder.skipsNonReferencePictures = (spacing ?? 1) >= 4
    }

    // MARK: The end

    /// Goes back to the beginning, where another pass is wanted and the file can.
    private func beginAgain(_ decoder: FFmpegDecoder, _ demuxer: Demuxer) throws(InletError) -> Bool {
        guard passes.beginNext() else { return false }
        try demuxer.rewind()
        decoder.flush()
        timestamps?.reset()
        selection?.reset()
        gate.rewind()
        phase = .reading
        return true
    }

    /// The end of the stream, which is an error only where nothing at all could be read.
    private func end() throws(InletError) -> SourceItem? {
        phase = .ended
        guard sequence == 0, handover.count == 0 else { return nil }
        throw InletError(
            .malformedData, "Not one picture could be decoded: the file is cut or damaged. Check it with ffprobe.",
            context: .init(subject: input.subject))
    }

    // MARK: Frames

    /// The frame as the bridge gets it, or nil where it is kept back.
    private func accept(
        _ frame: FFmpegFrame, _ decoder: FFmpegDecoder, _ demuxer: Demuxer, _ context: SourceContext
    ) throws(InletError) -> SourceFrame? {
        guard frame.size.fits(in: input.limits.size) else {
            throw input.limits.refusal("A picture of \(frame.size) has")
        }
        let stream = demuxer.stream
        let ticks = frame.bestEffortTimestamp ?? (phase == .draining ? timestamps?.nextAtEnd() : nil)
        let verdict = gate.judge(PictureGate.Picture(isKey: frame.isKey, isDamaged: frame.isDamaged, time: ticks))
        if case .keepBack(let reason) = verdict {
            if let reason { context.countDrop(reason) }
            if pacing == .live, gate.isBroken { lose(decoder) }
            return nil
        }
        if let ticks { passes.note(ticks, length: frame.duration ?? stream.frameTicks) }
        guard let pixelFormat = PixelFormat(frame.nativePixelFormat) else {
            context.countDrop(.undecodable)
            return nil
        }
        defer { sequence += 1 }
        var flags: FrameFlags = frame.isKey ? .key : []
        if verdict == .mark { flags.insert(.corrupt) }
        var result = SourceFrame(
            pixelFormat: pixelFormat, size: frame.size, planes: frame.planes, owner: frame,
            pts: ticks.map { MediaTime(ticks: $0 &+ passes.offset, timeBase: stream.timeBase) },
            duration: frame.duration.map { MediaTime(ticks: $0, timeBase: stream.timeBase) }, sequence: sequence,
            colorSpace: frame.colorSpace, rotation: frame.orientation?.rotation ?? stream.rotation,
            flags: flags, sampleAspectRatio: frame.sampleAspectRatio ?? stream.sampleAspectRatio)
        if let received {
            result.receiveTime = received.time
            result.wallClock = received.wallClock
        }
        return result
    }
}
