import CInletPlugin
import Glibc
import InletCore
import InletDecode
import InletPluginIPC
import InletSystem
import Logging

// Unsafe: reads structs as bytes.
/// The main loop of the child of a source: answers Inlet's requests, one after the other. Used on one thread.
final class SourceServerSession {
    private let channel: SourceServerChannel
    private let registry: PluginRegistry
    private var message = MessageBuffer()
    private let slots = SourceSlots()
    /// Becomes readable when Inlet cancels.
    private var wakeDescriptor: Int32 = -1
    private var configuration: (any FrameSourceConfiguration)?
    private var thread: SourceThread?
    private var format: SourceFormat?
    /// Whether the source was asked for an item that it has not yielded yet.
    private var isReading = false
    /// An item that came while Inlet wanted a pause.
    private var early: SourceItem??
    private var keyFrameRequests: UInt32 = 0
    private var reportedDrops: [DropReason: UInt64] = [:]
    private var reportedReception: (ReceptionFigures, MonotonicTime)?
    /// The parameters of packets that Inlet knows, and the number of packets since.
    private var packets: (parameters: CodecParameters, count: UInt64)?

    /// How long before the deadline of the opening the source itself must give up, so that its own error arrives.
    private static let margin = Duration.milliseconds(50)
    /// How long a pause waits for an item that the source is about to yield.
    private static let pausePatience = Duration.milliseconds(900)
    /// How long Inlet may take to provide memory.
    private static let memoryPatience = Duration.seconds(5)
    private static let receptionInterval = Duration.seconds(1)

    init(_ channel: SourceServerChannel, _ registry: PluginRegistry) {
        (self.channel, self.registry) = (channel, registry)
    }

    /// Serves until Inlet closes the source, or is gone.
    func run() -> Never {
        while true {
            do throws(MessageSocket.ReceiveFailure) {
                guard try channel.receive(into: &message) else { continue }
            } catch {
                end(by: .now + .milliseconds(400), SourceServer.ExitCode.gone)
            }
            do {
                try handle(Int(message.type))
            } catch {
                channel.answer(InletError(wrapping: error, operation: "The source"))
            }
        }
    }

    private func handle(_ type: Int) throws {
        switch type {
        case INLET_MESSAGE_CREATE: try create()
        case INLET_MESSAGE_OPEN: try open(try read(inlet_message.self))
        case INLET_MESSAGE_NEXT: try next(try read(inlet_next.self))
        case INLET_MESSAGE_PAUSE: try pause()
        case INLET_MESSAGE_RESUME:
            thread?.request(.resume)
            _ = try answer(until: .distantFuture)
            channel.answer(INLET_OK)
        case INLET_MESSAGE_CLOSE:
            end(by: MonotonicTime(nanoseconds: try read(inlet_message.self).deadline), 0)
        default: end(by: .now + .milliseconds(400), SourceServer.ExitCode.gone)
        }
    }

    private func read<Message: BitwiseCopyable>(_ type: Message.Type) throws(InletError) -> Message {
        guard let message = message.read(type) else {
            throw InletError(.internal, "Inlet sent a message that is too short. Report this.")
        }
        return message
    }

    private func end(by deadline: MonotonicTime, _ code: Int32) -> Never {
        if let thread { _ = thread.close(within: max(.zero, deadline - .now - Self.margin)) }
        reportDrops()
        // The C library's handlers would wait for threads that still work.
        _exit(code)
    }

    // MARK: Opening

    private func create() throws {
        let request = try read(inlet_create.self)
        wakeDescriptor = message.takeDescriptor()
        let texts = message.trailer(after: inlet_create.self).split(separator: 0, omittingEmptySubsequences: false)
        guard texts.count == 2 * Int(request.option_count) + 3, configuration == nil,
            let uri = String(validating: texts[1], as: UTF8.self)
        else { throw InletError(.internal, "Inlet's request does not match its stated length. Report this.") }
        var memoryLimit: Int?
        for index in 0..<Int(request.option_count)
        where texts[2 * index + 2].elementsEqual(SourceServer.memoryOption.utf8) {
            memoryLimit = TextBytes.number(texts[2 * index + 3], upTo: .max / 4)
        }
        try SourceServerGuard.start(watching: channel.socket.descriptor, memoryLimit: memoryLimit)
        configuration = try registry.source(uri)
        channel.answer(INLET_OK)
    }

    private func open(_ request: inlet_message) throws {
        guard thread == nil, let configuration else {
            throw InletError(.internal, "The source is open already. Inlet opens it once.")
        }
        let channel = channel
        let logger = Logger(label: "source") { _ in SourceLogHandler(channel: channel) }
        let thread = try SourceThread(
            { Self.source(configuration, interrupt: $0) }, onProgress: { channel.noteProgress() }
        ) { descriptor, beat in
            SourceContext(
                clock: ThreadClock(), wakeUpDescriptor: descriptor, logger: logger,
                onInterruption: {
                    channel.note(.interruption, SourceServerChannel.make(INLET_MESSAGE_INTERRUPTION, text: $0 ?? ""))
                }, onProgress: beat, onLag: { channel.note(.lag, SourceReport.lag($0).note) },
                onDecoderFailure: { name, error, next in
                    channel.note(
                        SourceReport.decoderFailure(name: name, error.code, message: error.message, next: next).note)
                },
                onDetection: { channel.note(.detection($0.kind), SourceReport.detection($0).note) },
                onTransportChange: { channel.note(SourceReport.transportChange($0).note) })
        }
        self.thread = thread
        let deadline = MonotonicTime(nanoseconds: request.deadline)
        let left = max(.zero, min(.seconds(86_400), deadline - .now))
        thread.request(.open(within: left - min(Self.margin, left / 10)))
        guard case .opened(let format) = try answer(until: deadline) else {
            throw InletError(
                .timedOut, "The source took too long to open. Check that the device or server is available.")
        }
        self.format = format
        reportDrops()
        channel.answer(try SourceStatement.opened(format), SourceStatement.Facts(format).bytes)
    }

    /// Makes the source; a source of packets gets a decoder behind it.
    private static func source(
        _ configuration: any FrameSourceConfiguration, interrupt: @escaping @Sendable () -> Void
    ) -> any FrameSource {
        guard let packets = configuration as? any PacketSourceConfiguration else { return configuration.makeSource() }
        let thread = DecodingSource.ReadingThread(
            start: { body in try SystemThread.start(named: "inlet-read", body) }, interrupt: interrupt)
        return DecodingSource(
            packets.makePacketSource(), packets.decoding, readOn: packets.readsOnSeparateThread ? thread : nil)
    }

    // MARK: Reading

    private func next(_ request: inlet_next) throws {
        guard let thread, format != nil else { throw InletError(.internal, "The source is not open.") }
        follow(request)
        defer { report() }
        if let next = early.take() { return try send(next) }
        if !isReading { thread.request(.next) }
        isReading = true
        guard case .item(let next) = try answer(until: MonotonicTime(nanoseconds: request.deadline)) else {
            return channel.answer(INLET_AGAIN)
        }
        isReading = false
        try send(next)
    }

    /// Passes the sinks' demand to the source.
    private func follow(_ request: inlet_next) {
        slots.grant(request.free_slots)
        guard let context = thread?.context else { return }
        let wire = request.demand
        func ratio() -> Rational? {
            guard wire.frame_rate.numerator > 0, wire.frame_rate.denominator > 0 else { return nil }
            return Rational(exactly: Int(wire.frame_rate.numerator), over: Int(wire.frame_rate.denominator))
        }
        var demand = SourceDemand(
            maximumFrameRate: ratio(),
            largestSize: wire.width > 0 && wire.height > 0
                ? ImageSize(width: Int(wire.width), height: Int(wire.height)) : nil)
        demand.pictures = wire.wants_pictures != 0
        demand.packets = wire.wants_packets != 0
        demand.setOwnFlags(request.reserved)
        context.setDemand(demand)
        // Decoders ask the same context, so the numbers differ.
        if wire.key_frame_requests != keyFrameRequests { context.requestKeyFrame() }
        keyFrameRequests = wire.key_frame_requests
    }

    private func send(_ next: SourceItem?) throws {
        var item = inlet_wire_item()
        item.type = UInt32(INLET_MESSAGE_ITEM)
        var trailer: [UInt8] = []
        switch next {
        case nil: return channel.answer(INLET_END)
        case .frame(let frame): try describe(frame, &item)
        case .packet(let packet): trailer = try describe(packet, &item)
        }
        channel.answer(item, trailer)
    }

    private func describe(_ frame: SourceFrame, _ item: inout inlet_wire_item) throws {
        let timeBase = format?.timeBase ?? Rational(1, 1000)
        func ticks(_ time: MediaTime?) -> Int64 { time.map { $0.rescaled(to: timeBase).ticks } ?? .min }
        item.flags = bits([
            (frame.flags.contains(.key), INLET_FLAG_KEY), (frame.flags.contains(.corrupt), INLET_FLAG_CORRUPT),
            (frame.flags.contains(.discontinuity), INLET_FLAG_DISCONTINUITY),
        ])
        item.sequence = frame.sequence
        (item.pts, item.dts, item.duration) = (ticks(frame.pts), .min, max(0, ticks(frame.duration)))
        item.capture_time = frame.captureTime?.nanoseconds ?? .min
        item.wall_clock = frame.wallClock ?? .min
        item.deadline = frame.receiveTime?.nanoseconds ?? .min
        item.width = UInt32(clamping: frame.size.width)
        item.height = UInt32(clamping: frame.size.height)
        item.rotation = UInt32(frame.rotation.rawValue)
        item.color = WireValues.color(frame.colorSpace)
        item.sample_aspect_ratio = WireValues.ratio(frame.sampleAspectRatio)
        FixedText.write(frame.pixelFormat.name, to: &item.pixel_format)
        try slots.write(frame, to: &item, request: request)
    }

    /// - Returns: the parameters, if they are new.
    private func describe(_ packet: SourcePacket, _ item: inout inlet_wire_item) throws -> [UInt8] {
        let timeBase = packet.parameters.timeBase
        func ticks(_ time: MediaTime?) -> Int64 { time.map { $0.rescaled(to: timeBase).ticks } ?? .min }
        item.is_packet = 1
        item.flags = bits([
            (packet.flags.contains(.key), INLET_FLAG_KEY), (packet.flags.contains(.loss), INLET_FLAG_LOSS),
            (packet.flags.contains(.discontinuity), INLET_FLAG_DISCONTINUITY),
        ])
        (item.pts, item.dts, item.duration) = (ticks(packet.pts), ticks(packet.dts), max(0, ticks(packet.duration)))
        item.capture_time = packet.captureTime?.nanoseconds ?? .min
        item.wall_clock = packet.wallClock ?? .min
        item.deadline = packet.receiveTime?.nanoseconds ?? .min
        try slots.write(packet, to: &item, request: request)
        if let known = packets, known.parameters == packet.parameters {
            item.sequence = known.count
            packets?.count += 1
            return []
        }
        let sets = packet.parameters.extraData
        guard sets.count <= SourceStatement.longestParameterSets else {
            throw InletError(.unsupported, "The parameter sets have \(sets.count) bytes. They have at most 64 KiB.")
        }
        packets = (packet.parameters, 1)
        let stream = try SourceStatement.packets(packet.parameters)
        let extras = SourceStatement.Extras(packet.parameters)
        item.parameter_sets_length = UInt32(sets.count)
        return unsafe withUnsafeBytes(of: stream) { unsafe Array($0) }
            + withUnsafeBytes(of: extras) { unsafe Array($0) } + sets
    }

    private func bits(_ flags: [(isSet: Bool, bit: Int)]) -> UInt32 {
        flags.reduce(0) { $0 | ($1.isSet ? UInt32($1.bit) : 0) }
    }

    /// Asks Inlet for slots of a length.
    private func request(_ length: Int) throws(InletError) {
        channel.answer(
            inlet_need_segment(type: UInt32(INLET_MESSAGE_NEED_SEGMENT), reserved: 0, slot_length: UInt64(length)))
        let isThere: Bool
        do throws(MessageSocket.ReceiveFailure) {
            isThere = try channel.receive(into: &message, within: Self.memoryPatience)
        } catch {
            end(by: .now + .milliseconds(400), SourceServer.ExitCode.gone)
        }
        guard isThere else { throw InletError(.timedOut, "Inlet provided no memory for a picture in time.") }
        guard message.type == UInt32(INLET_MESSAGE_SEGMENT) else {
            // Inlet may only ask for closing meanwhile.
            end(by: .now + .milliseconds(400), 0)
        }
        let segment = try read(inlet_segment.self)
        let descriptor = message.takeDescriptor()
        defer { if descriptor >= 0 { close(descriptor) } }
        try slots.adopt(segment, descriptor: descriptor)
    }

    // MARK: Pauses

    private func pause() throws {
        guard let thread, format != nil else { throw InletError(.internal, "The source is not open.") }
        if isReading {
            guard case .item(let item) = try answer(until: .now + Self.pausePatience) else {
                throw InletError(.unsupported, "The source waits for its next picture, and cannot pause meanwhile.")
            }
            isReading = false
            early = .some(item)
        }
        thread.request(.pause)
        guard case .paused(true) = try answer(until: .distantFuture) else {
            throw InletError(.unsupported, "The source cannot pause.")
        }
        channel.answer(INLET_OK)
    }

    // MARK: Answers of the source

    /// Returns the answer to the last request; nil if none comes by the deadline.
    private func answer(until deadline: MonotonicTime) throws(InletError) -> SourceThread.Answer? {
        switch thread?.answer(until: deadline, wakeDescriptor: wakeDescriptor) {
        case .answer(.failed(let error)):
            // Whatever was requested, no read is under way any more.
            isReading = false
            throw error
        case .answer(let answer): return answer
        case .late, nil: return nil
        case .cancelled: throw InletError(.cancelled, "The source was stopped.")
        }
    }

    private func report() {
        reportDrops()
        guard let figures = thread?.context.reception else { return }
        let now = MonotonicTime.now
        if let (before, time) = reportedReception, before == figures || now - time < Self.receptionInterval { return }
        if channel.note(SourceReport.reception(figures).note) { reportedReception = (figures, now) }
    }

    private func reportDrops() {
        guard let counts = thread?.context.dropCounts, counts != reportedDrops else { return }
        for (reason, count) in counts {
            let before = reportedDrops[reason] ?? 0
            guard count > before else { continue }
            let part = min(count - before, UInt64(UInt32.max))
            // Drops that do not fit are counted with the next ones.
            guard channel.note(INLET_MESSAGE_DROP, text: reason.description, count: part) else { return }
            reportedDrops[reason] = before + part
        }
    }
}
