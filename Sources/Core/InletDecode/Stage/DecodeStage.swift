import InletCore
import InletSystem

/// Turns the packets of one stream into pictures: chooses the packets to decode, decodes them, and chooses the pictures
/// to show. Packets for sinks that take them unchanged are output together with the pictures.
///
/// Confined to one thread at a time.
final class DecodeStage {
    /// A result of ``take(_:)``.
    enum Output {
        case item(SourceItem)
        /// Put another packet first.
        case needsPacket
        /// A picture was withheld: there may be more.
        case keptBack
        /// Everything that was put before ``finish()`` has been output.
        case ended
    }

    enum Phase {
        case reading
        /// The decoder outputs everything that it holds, and gets packets again afterwards.
        case emptying
        case draining
    }

    let settings: DecodingSettings
    let isLive: Bool
    let frameRate: Rational?
    private var chain: DecoderChain
    var decoder: any VideoDecoder { chain.decoder }
    /// The newest known parameters of the stream, for a decoder that replaces another.
    private var parameters: CodecParameters
    /// Whether a decoder has replaced another and has had no key frame yet.
    private var isNewDecoder = false
    var gate: PictureGate
    var selection: PacketSelection
    var handover: PacketHandover
    /// The packets since the last key frame that were not decoded because no sink took pictures.
    var passed = PassedGroup()
    /// The key frame with which a stretch begins in which only key frames are decoded.
    var lastKey: SourcePacket?
    /// Whether the stream has key frames so often that it need not be decoded while sinks have no use for it.
    private var rest = RestRule()
    /// Packets that are decoded before any other, since pictures are wanted again.
    var kept: ArraySlice<SourcePacket> = []
    /// The time at which the last of them was decoded: packets that had arrived before are not skipped as late.
    var caughtUp: MonotonicTime?
    private var audit: RateAudit?
    /// The times of the last pictures, for containers that have none; nil for a live stream, whose times are the
    /// sender's or none.
    private var timestamps: TimestampGuess?
    /// The demand of the sinks at the last ``followDemand(_:)``.
    private(set) var demand = SourceDemand.everything
    private var demandVersion = -1
    var phase = Phase.reading
    /// A packet at which decoding restarts, once the decoder is empty.
    private var pending: SourcePacket?
    /// The time at which the packet that was put last had arrived; nil if the stream is not live.
    private(set) var received: MonotonicTime?
    /// Nil if the source waits, or nothing is too late.
    var lag: LagPolicy?
    /// Whether a key frame is queued after the packet that was put last.
    var precedesKey = false
    /// The number of packets whose pictures the decoder has not output.
    var heldCount = 0
    /// The time at which the packet was given to the decoder that has not output its picture yet, and the thread's
    /// processor time then.
    private var decodingSince: (time: MonotonicTime, processor: Duration)?
    private var packetFacts: PacketFacts
    /// The newest parameter sets outside the packets, which determine the packets' form.
    var codecHeader: [UInt8]
    /// Whether the following packets refer to skipped ones, up to the next key frame.
    var hasLeftOut = false
    /// The number of pictures output.
    private(set) var pictures: UInt64 = 0
    /// The time before which pictures are not wanted; nil once the stream is read from its beginning again.
    var start: MediaTime?
    /// The newest picture before that time, while no later one has been output: the one shown then, if none follows.
    var lastBeforeStart: SourceFrame?

    /// Opens the decoder.
    ///
    /// - Throws: the error with which opening the decoder failed.
    init(
        _ stream: PacketStream, of format: SourceFormat, _ settings: DecodingSettings, _ context: SourceContext
    ) throws {
        self.settings = settings
        let parameters = stream.parameters
        self.parameters = parameters
        let timeBase = parameters.timeBase
        isLive = format.pacing == .live
        frameRate = format.frameRate
        codecHeader = parameters.extraData
        gate = PictureGate(settings.damage, isLive: isLive, timeBase: timeBase)
        start = stream.start
        if let start { gate.begin(at: start.rescaled(to: timeBase).ticks) }
        let failures: [DecoderChain.Failure]
        (chain, failures) = try DecoderChain.open(
            parameters, settings.decoderSettings(isLive: isLive), from: settings.decoders, wanted: settings.decoder)
        let decoder = chain.decoder
        for failure in failures {
            context.noteDecoderFailure(of: failure.name, failure.error, next: chain.name)
        }
        packetFacts = PacketFacts(range: settings.colorRange, matrix: settings.colorMatrix)
        audit = isLive ? settings.limits.frameRate.map { RateAudit(most: $0, timeBase: timeBase) } : nil
        if isLive, let limit = settings.maximumLag, limit > .zero {
            lag = LagPolicy(limit: limit, seed: .random(in: 0 ... .max))
        }
        selection = PacketSelection(
            timeBase: timeBase, known: stream.keyFrameInterval.map { [$0.rescaled(to: timeBase).ticks] } ?? [])
        handover = PacketHandover(parameters, reorderDepth: decoder.reorderDepth)
        timestamps =
            isLive
            ? nil
            : TimestampGuess(timeBase: timeBase, frameRate: format.frameRate, reorderDepth: decoder.reorderDepth)
    }

    /// The number of packets passed on unchanged.
    var packets: UInt64 { handover.count }

    /// The number of packets withheld in a row, because no key frame has arrived.
    var refusals: Int { gate.refusals }

    // MARK: Packets

    /// Takes a packet. Call ``take(_:)`` until it asks for one.
    ///
    /// - Parameter waiting: the number of packets queued after it, and whether a key frame is among them.
    /// - Throws: ``InletError/Code/unsupported`` if its picture is larger than allowed, or packets arrive more often;
    ///   the error that the decoder failed with.
    func put(
        _ packet: SourcePacket, waiting: (count: Int, hasKey: Bool) = (0, false), _ context: SourceContext
    ) throws {
        precedesKey = waiting.hasKey
        if packet.flags.contains(.restart) {
            finish()
            pending = packet
        } else {
            try decode(packet, waiting: waiting, context)
        }
    }

    /// Records that no packets follow: the decoder outputs the pictures that it holds back.
    func finish() {
        phase = .draining
        kept = []
        handover.release()
        decoder.drain()
    }

    private func decode(
        _ packet: SourcePacket, waiting: (count: Int, hasKey: Bool) = (0, false), _ context: SourceContext
    ) throws {
        if isLive { received = packet.receiveTime ?? context.clock.now }
        packetFacts.note(packet, arrival: received)
        let (pts, dts) = (packet.pts?.ticks, packet.dts?.ticks)
        var facts = PictureGate.Packet(isKey: packet.isKey, pts: pts, dts: dts)
        if gate.stepsBack(facts) {
            handover.stepBack()
            audit?.reset()
            passed.clear()
        }
        if let arrival = received {
            try audit?.note(pts ?? dts, arrival: arrival)
            // The packet that reports a loss may lack its own end, or hold a piece of the next.
            facts.lacksSomething = packet.flags.contains(.loss)
            if facts.lacksSomething { lose(context) }
        }
        if case .keepBack(let reason) = gate.admit(facts) {
            if let reason { context.countDrop(reason) }
            return
        }
        rest.note(packet)
        parameters = packet.parameters
        if !packet.parameters.extraData.isEmpty { codecHeader = packet.parameters.extraData }
        _ = timestamps?.complete(dts: dts, duration: packet.duration?.ticks ?? 0)
        if demand.packets {
            handover.put(packet)
            for (reason, count) in handover.takeDrops() { context.countDrop(reason, count) }
        }
        let areWanted = demand.pictures || !demand.packets || demand.hasIdleSinks && !rest.isAllowed
        switch handover.fate(isKey: packet.isKey, pictures: areWanted) {
        case .decode: break
        case .pass:
            // Pictures that the decoder holds back are not missed.
            heldCount = 0
            let fits = passed.add(packet)
            if areWanted { catchUp(with: facts, context) } else if !fits { passed.clear() }
            return
        case .decodeAnew:
            // The decoder's state is from before a gap.
            resetDecoder()
            selection.reset()
            gate.resume(at: facts)
        }
        let fate = selection.fate(
            isKey: packet.isKey, time: pts ?? dts, wanted: demand.maximumFrameRate,
            keyFramesOnly: demand.keyFramesOnly, canCatchUp: !passed.packets.isEmpty)
        switch fate {
        case .pass: keep(packet)
        case .passAndDrain: beginStretch(with: packet)
        case .catchUp: endStretch(with: packet, facts, context)
        case .decodeAlone:
            keep(packet)
            guard isInTime(packet, waiting, context) else { return }
            try send(packet, context)
            empty()
        case .decodeAnew:
            gate.resume(at: facts)
            fallthrough
        case .decode:
            guard isInTime(packet, waiting, context) else { return }
            if hasLeftOut, packet.isKey {
                hasLeftOut = false
                discardHeld(.late, context)
                gate.resume(at: facts, reason: .late)
            }
            if hasLeftOut { passed.clear() } else { passed.noteDecoded() }
            if packet.isKey { lastKey = selection.restsOnKeys ? packet : nil }
            try send(packet, context)
        }
    }

    /// Records that the decoder is done with a packet.
    private func noteDecoding(_ context: SourceContext) {
        guard let start = decodingSince else { return }
        decodingSince = nil
        lag?.noteDecoding(
            took: context.clock.now - start.time, processor: ProcessorClock.currentThreadTime - start.processor)
    }

    func send(_ packet: SourcePacket, _ context: SourceContext) throws {
        if isNewDecoder {
            guard packet.isKey else { return context.countDrop(.undecodable) }
            isNewDecoder = false
            gate.resume(
                at: PictureGate.Packet(isKey: true, pts: packet.pts?.ticks, dts: packet.dts?.ticks),
                reason: .undecodable)
        }
        if lag != nil { decodingSince = (context.clock.now, ProcessorClock.currentThreadTime) }
        let result: PacketFault?
        do {
            result = try decoder.send(packet)
        } catch {
            context.countDrop(.undecodable)
            passed.clear()
            return try replaceDecoder(after: error, context)
        }
        if let fault = result { try noteUndecodable(fault, context) } else { heldCount += 1 }
    }

    /// Continues with the next decoder, at the next key frame.
    ///
    /// - Throws: the error, if no other decoder is left.
    private func replaceDecoder(after error: any Error, _ context: SourceContext) throws(InletError) {
        let error = InletError(wrapping: error, operation: "The decoder \(chain.name)")
        let failed = chain.name
        let failures = try chain.replace(after: error, parameters)
        context.noteDecoderFailure(of: failed, error, next: chain.name)
        for failure in failures { context.noteDecoderFailure(of: failure.name, failure.error, next: chain.name) }
        (isNewDecoder, heldCount) = (true, 0)
        selection.reset()
        switch phase {
        case .reading: break
        case .emptying: phase = .reading
        case .draining: chain.decoder.drain()
        }
    }

    /// Makes the decoder output the pictures that it holds, to continue afterwards.
    func empty() {
        decoder.drain()
        phase = .emptying
    }

    /// Reads the current demand of the sinks.
    func followDemand(_ context: SourceContext) {
        let version = context.demandVersion
        guard version != demandVersion else { return }
        demandVersion = version
        let hadPackets = demand.packets
        let wasLossless = demand.isLossless
        demand = context.demand
        if demand.isLossless != wasLossless, let old = lag {
            lag = LagPolicy(limit: old.limit, seed: .random(in: 0 ... .max))
            if old.isLagging { context.noteLag(false) }
        }
        // Packets that arrive meanwhile are not seen, and not missed.
        if hadPackets, !demand.packets {
            handover.lose()
            _ = handover.takeDrops()
        }
        // Up to three pictures in a row to which no other refers are usual; with more the remaining ones are close
        // enough.
        let spacing = demand.maximumFrameRate.flatMap { wanted in
            frameRate.map { $0.doubleValue / wanted.doubleValue }
        }
        decoder.skipsNonReferencePictures = (spacing ?? 1) >= 4
    }

    // MARK: Pictures

    /// Returns the next picture or packet, if there is one.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if a picture is larger than allowed; the error that the decoder failed
    ///   with.
    func take(_ context: SourceContext) throws -> Output {
        while true {
            let output: DecoderOutput
            do {
                output = try decoder.receive()
            } catch {
                try replaceDecoder(after: error, context)
                continue
            }
            switch output {
            case .picture(let picture):
                heldCount = max(0, heldCount - 1)
                noteDecoding(context)
                return try accept(picture, context).map { .item(.frame($0)) } ?? .keptBack
            case .undecodable(let fault):
                heldCount = max(0, heldCount - 1)
                try noteUndecodable(fault, context)
            case .needsPacket:
                noteDecoding(context)
                if let packet = handover.take() { return .item(.packet(packet)) }
                guard try sendKept(context) else { return .needsPacket }
            case .ended where phase == .emptying:
                resetDecoder()
                phase = .reading
            case .ended:
                if let packet = handover.take() { return .item(.packet(packet)) }
                guard let packet = pending else { return takeShownAtStart() }
                pending = nil
                // Another pass would yield no picture either.
                guard pictures > 0 || packets > 0 else { return .ended }
                beginAnew()
                try decode(packet, context)
            }
        }
    }

    /// Records that the stream is read from its beginning again.
    private func beginAnew() {
        resetDecoder()
        timestamps?.reset()
        selection.reset()
        gate.rewind()
        (start, lastBeforeStart) = (nil, nil)
        phase = .reading
    }

    /// Returns the picture as the bridge gets it, or nil if it is withheld.
    private func accept(_ picture: SourceFrame, _ context: SourceContext) throws(InletError) -> SourceFrame? {
        guard picture.size.fits(in: settings.limits.size) else {
            throw settings.limits.refusal("A picture of \(picture.size) has")
        }
        var frame = picture
        if frame.pts == nil, phase == .draining, let timestamps {
            frame.pts = MediaTime(ticks: self.timestamps?.nextAtEnd() ?? 0, timeBase: timestamps.timeBase)
        }
        let verdict = gate.judge(
            PictureGate.Picture(
                isKey: frame.flags.contains(.key), isDamaged: frame.flags.contains(.corrupt), time: frame.pts?.ticks))
        if case .keepBack(let reason) = verdict {
            if let reason { context.countDrop(reason) } else { noteBeforeStart(frame) }
            if isLive, gate.isBroken { lose(context) }
            return nil
        }
        // If the picture's own packet is unknown, the newest counts.
        if let received, lag != nil, !demand.isLossless {
            let start = packetFacts.lagStart(of: frame, reorderDepth: decoder.reorderDepth) ?? received
            if lag?.shows(arrival: start, at: context.clock.now) == false {
                context.countDrop(.late)
                return nil
            }
        }
        if let received { frame.receiveTime = received }
        if verdict == .mark { frame.flags.insert(.corrupt) } else { frame.flags.remove(.corrupt) }
        return complete(frame)
    }

    /// Returns a picture that is output, with the facts about its packet.
    func complete(_ picture: SourceFrame) -> SourceFrame {
        var frame = picture
        packetFacts.complete(&frame)
        lastBeforeStart = nil
        frame.sequence = pictures
        pictures += 1
        return frame
    }
}
