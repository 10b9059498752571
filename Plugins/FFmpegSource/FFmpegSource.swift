import InletCore
import InletFFmpeg

/// Reads and decodes a file: demuxer, decoder and pacer, one after another on the capture thread.
final class FFmpegSource: FrameSource {
    private let configuration: FFmpegFileConfiguration
    private var demuxer: Demuxer?
    private var decoder: FFmpegDecoder?
    private var pacer = Pacer()
    private var timestamps: TimestampGuess?
    private var selection: PacketSelection?
    private var demand = SourceDemand.everything
    private var demandVersion = -1
    /// Pictures before this time, in ticks, refer to others that were not decoded.
    private var firstWhole: Int64?
    private var phase = Phase.reading
    private var sequence: UInt64 = 0
    private var loopsLeft = 0
    /// What is added to PTS, in ticks: the length of the passes so far.
    private var loopOffset: Int64 = 0
    /// From the earliest to the end of the latest frame of this pass, in ticks.
    private var passStart: Int64?
    private var passEnd: Int64 = 0

    private enum Phase {
        case reading
        /// The decoder gives out all that it holds, and is given packets again afterwards.
        case emptying
        case draining
        case ended
    }

    init(_ configuration: FFmpegFileConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let demuxer = try Demuxer(path: configuration.path, stream: configuration.stream, context: context)
        self.demuxer = demuxer
        loopsLeft = configuration.loop
        var options = FFmpegDecoder.Options()
        options.threads = configuration.threads
        let decoder = try demuxer.makeDecoder(options)
        self.decoder = decoder
        selection = PacketSelection(timeBase: demuxer.stream.timeBase, known: demuxer.keyFrameDistances)
        timestamps = TimestampGuess(demuxer.stream, reorderDepth: decoder.reorderDepth)
        if configuration.start > .zero { try demuxer.seek(to: configuration.start) }
        return demuxer.format(pacing: configuration.pace)
    }

    func nextFrame(_ context: SourceContext) throws -> SourceFrame? {
        guard let demuxer, let decoder else { return nil }
        followDemand(context, decoder, demuxer.stream)
        while true {
            try context.checkCancellation()
            switch try decoder.receive() {
            case .frame(let frame):
                guard let frame = accept(frame, demuxer: demuxer, context: context) else { continue }
                if configuration.pace == .realtime, let pts = frame.pts {
                    try pacer.wait(for: pts, startsAnew: frame.flags.contains(.discontinuity), context: context)
                }
                return frame
            case .undecodable: context.countDrop(.undecodable)
            case .needsInput: try feed(decoder, from: demuxer, context: context)
            case .ended where phase == .emptying:
                decoder.flush()
                phase = .reading
            case .ended:
                guard try beginAgain(decoder, demuxer) else { return try end() }
            }
        }
    }

    /// A file stands still by not being read.
    func pause(_ context: SourceContext) throws -> Bool { true }

    /// Goes on from where it was: what was due in the pause is due now.
    func resume(_ context: SourceContext) throws { pacer = Pacer() }

    func close() {
        decoder = nil
        demuxer = nil
    }

    /// Gives the decoder one packet, or the word that there are no more.
    private func feed(_ decoder: FFmpegDecoder, from demuxer: Demuxer, context: SourceContext) throws(InletError) {
        guard phase == .reading else { return }
        guard let packet = try demuxer.nextPacket(context) else {
            phase = .draining
            decoder.sendEnd()
            return
        }
        timestamps?.complete(packet)
        let time = packet.pts ?? packet.dts
        switch selection?.fate(isKey: packet.isKey, time: time, wanted: demand.maximumFrameRate) ?? .decode {
        case .pass: return
        case .passAndDrain:
            decoder.sendEnd()
            phase = .emptying
            return
        case .decodeAlone:
            if decoder.send(packet) < 0 { context.countDrop(.undecodable) }
            decoder.sendEnd()
            phase = .emptying
            return
        case .decodeAnew: firstWhole = packet.pts
        case .decode: break
        }
        if decoder.send(packet) < 0 { context.countDrop(.undecodable) }
    }

    /// Looks at what the sinks want now.
    private func followDemand(_ context: SourceContext, _ decoder: FFmpegDecoder, _ stream: StreamFacts) {
        let version = context.demandVersion
        guard version != demandVersion else { return }
        demandVersion = version
        demand = context.demand
        // Up to three pictures in a row to which no other refers are usual; beyond that the ones that are left are close enough.
        let spacing = demand.maximumFrameRate.flatMap { wanted in
            stream.frameRate.map { $0.doubleValue / wanted.doubleValue }
        }
        decoder.skipsNonReferencePictures = (spacing ?? 1) >= 4
    }

    /// Goes back to the beginning, where another pass is wanted and the file can.
    private func beginAgain(_ decoder: FFmpegDecoder, _ demuxer: Demuxer) throws(InletError) -> Bool {
        guard loopsLeft != 0, let passStart else { return false }
        loopsLeft -= loopsLeft > 0 ? 1 : 0
        loopOffset += max(passEnd - passStart, 1)
        self.passStart = nil
        passEnd = 0
        try demuxer.rewind()
        decoder.flush()
        timestamps?.reset()
        selection?.reset()
        firstWhole = nil
        phase = .reading
        return true
    }

    /// The end of the stream, which is an error only where nothing at all could be read.
    private func end() throws(InletError) -> SourceFrame? {
        phase = .ended
        guard sequence == 0 else { return nil }
        throw InletError(
            .malformedData, "Not one picture could be decoded: the file is cut or damaged. Check it with ffprobe.",
            context: .init(subject: configuration.redactedURI))
    }

    /// The frame as the bridge gets it, or nil where it is damaged or lies before the start asked for.
    private func accept(_ frame: FFmpegFrame, demuxer: Demuxer, context: SourceContext) -> SourceFrame? {
        guard !frame.isDamaged else {
            context.countDrop(.damaged)
            return nil
        }
        let stream = demuxer.stream
        let ticks = frame.bestEffortTimestamp ?? (phase == .draining ? timestamps?.nextAtEnd() : nil)
        if let ticks {
            if let seekTarget = demuxer.seekTarget, ticks < seekTarget { return nil }
            if let firstWhole, ticks < firstWhole { return nil }
            passStart = min(passStart ?? ticks, ticks)
            passEnd = max(passEnd, ticks + (frame.duration ?? stream.frameTicks))
        }
        guard let pixelFormat = PixelFormat(frame.nativePixelFormat) else {
            context.countDrop(.undecodable)
            return nil
        }
        defer { sequence += 1 }
        return SourceFrame(
            pixelFormat: pixelFormat, size: frame.size, planes: frame.planes, owner: frame,
            pts: ticks.map { MediaTime(ticks: $0 &+ loopOffset, timeBase: stream.timeBase) },
            duration: frame.duration.map { MediaTime(ticks: $0, timeBase: stream.timeBase) }, sequence: sequence,
            colorSpace: frame.colorSpace, rotation: frame.orientation?.rotation ?? stream.rotation,
            flags: frame.isKey ? .key : [], sampleAspectRatio: frame.sampleAspectRatio ?? stream.sampleAspectRatio)
    }
}
