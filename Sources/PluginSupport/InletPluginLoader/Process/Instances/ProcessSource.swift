import CInletPlugin
import InletCore
import InletDecode
import InletPluginIPC
import InletSystem
import Logging

// Unsafe: reads pictures and packets in shared memory.
/// A source that runs in a separate process.
///
/// The child fills slots of shared memory, which frames then refer to. Every value from it is checked, and nothing that
/// it does takes longer than the operation may.
final class ProcessSource: FrameSource {
    private let configuration: PluginSourceConfiguration
    /// The configuration of the child, if it runs one of Inlet's own sources.
    private let own: SourceProcessConfiguration?
    private var connection: PluginConnection?
    /// The context since the opening, for the child's messages at its end.
    private var context: SourceContext?
    private var assembler: ItemAssembler?
    /// Makes packets, if the child yields them beside pictures.
    private var packetAssembler: ItemAssembler?
    private var packetExtras: SourceStatement.Extras?
    private var canPause = false
    private var pool: SlotPool
    private var names = FormatNames()
    private var dropReasons: Set<DropReason> = []
    private var demand = inlet_demand()
    private var demandVersion = -1
    /// The requests for key frames made before this source replaced another.
    private var earlierKeyFrameRequests = 0

    /// How long the child waits for a picture before it reports that it has none, and gets the sinks' current demand.
    private static let slice = Duration.milliseconds(500)
    /// How many reasons of drops are distinguished.
    private static let mostDropReasons = 32

    init(_ configuration: PluginSourceConfiguration) {
        self.configuration = configuration
        own = nil
        pool = SlotPool(limit: configuration.program.segmentLimit)
    }

    /// Creates one of Inlet's own sources in a child of the same executable.
    init(_ own: SourceProcessConfiguration) {
        configuration = own.request
        self.own = own
        pool = SlotPool(limit: configuration.program.segmentLimit)
    }

    /// The number of pictures copied because all other slots were held.
    var copyCount: UInt64 { pool.copies }

    func open(_ context: SourceContext) throws -> SourceFormat { try start(context) }

    private func start(_ context: SourceContext) throws(InletError) -> SourceFormat {
        let connection =
            if let own { try PluginConnection(to: own, logger: context.logger) } else {
                try PluginConnection(to: configuration.program, logger: context.logger)
            }
        self.connection = connection
        own?.figures.noteStart(connection.processID)
        self.context = context
        let limit = CallLimit(of: context)
        let onNote = noteHandler(context)
        try connection.sendCreate(
            kind: INLET_KIND_SOURCE, scheme: configuration.scheme, address: configuration.address,
            options: configuration.options)
        let created = try connection.receiveResult(within: limit, to: "start", onNote: onNote)
        guard created.result == INLET_OK else {
            throw connection.failure(created, to: "start", isCancelled: context.isCancelled)
        }
        try connection.send(INLET_MESSAGE_OPEN, due: limit.due)
        let type = try connection.receive(within: limit, onNote: onNote)
        switch type {
        case INLET_MESSAGE_OPENED: break
        case INLET_MESSAGE_RESULT:
            throw connection.failure(
                try connection.read(inlet_wire_result.self), to: "open", isCancelled: context.isCancelled)
        default: throw connection.unexpected(type, "open")
        }
        let stream = try connection.read(inlet_wire_stream.self)
        let trailer = connection.trailer(after: inlet_wire_stream.self)
        do throws(PluginLie) {
            if own != nil { return try takeFacts(stream, trailer) }
            let sets = try Self.parameterSets(trailer, stream.parameter_sets_length)
            let checked = try CheckedStream(stream, parameterSets: sets ?? [], name: configuration.program.name)
            assembler = ItemAssembler(checked, configuration.decoding.limits)
            canPause = checked.canPause
            return checked.format
        } catch {
            throw connection.rejection(error)
        }
    }

    /// Stores the child's description of its stream.
    private func takeFacts(_ stream: inlet_wire_stream, _ trailer: [UInt8]) throws(PluginLie) -> SourceFormat {
        let checked = try CheckedStream(
            stream, parameterSets: [], name: configuration.program.name, mayLackSize: true)
        guard checked.format.packetStream == nil, let facts = SourceStatement.Facts(trailer) else {
            throw PluginLie("describes its stream wrongly")
        }
        assembler = ItemAssembler(checked, configuration.decoding.limits)
        canPause = checked.canPause
        var format = checked.format
        (format.hasPackets, format.isBroadcast) = (facts.hasPackets, facts.isBroadcast)
        (format.codec, format.container) = (facts.codec, facts.container)
        return format
    }

    /// Returns the parameter sets after a struct; nil without any.
    private static func parameterSets(_ trailer: [UInt8], _ length: UInt32) throws(PluginLie) -> [UInt8]? {
        guard length <= trailer.count else {
            throw PluginLie("sent parameter sets of \(length) bytes in a message that holds \(trailer.count)")
        }
        return length == 0 ? nil : Array(trailer.prefix(Int(length)))
    }

    func next(_ context: SourceContext) throws -> SourceItem? { try read(context) }

    private func read(_ context: SourceContext) throws(InletError) -> SourceItem? {
        guard let connection else { throw InletError(.cancelled, "The source is closed.") }
        let onNote = noteHandler(context)
        while true {
            try context.checkCancellation()
            let limit = CallLimit(of: context, slice: Self.slice)
            followDemand(context)
            try connection.send(
                inlet_next(
                    type: UInt32(INLET_MESSAGE_NEXT), reserved: own != nil ? context.demand.ownFlags : 0,
                    deadline: limit.due, free_slots: pool.grant(),
                    demand: demand))
            switch try answer(within: limit, connection, onNote) {
            case INLET_MESSAGE_ITEM: return try take(connection, context)
            default:
                let result = try connection.read(inlet_wire_result.self)
                switch Int(result.result) {
                case INLET_AGAIN: continue
                case INLET_END: return nil
                default:
                    throw connection.failure(result, to: "read a picture", isCancelled: context.isCancelled)
                }
            }
        }
    }

    /// Waits for an item or a result, and gives the child the memory that it needs for it.
    private func answer(
        within limit: CallLimit, _ connection: PluginConnection, _ onNote: (PluginNote) throws(PluginLie) -> Void
    ) throws(InletError) -> Int {
        while true {
            let type = try connection.receive(within: limit, onNote: onNote)
            switch type {
            case INLET_MESSAGE_ITEM, INLET_MESSAGE_RESULT: return type
            case INLET_MESSAGE_NEED_SEGMENT:
                let need = try connection.read(inlet_need_segment.self)
                let outcome = try pool.replace(slotLength: need.slot_length) {
                    message, descriptor throws(InletError) in
                    try connection.send(message, descriptor: descriptor)
                }
                if case .failure(let lie) = outcome { throw connection.rejection(lie) }
            default: throw connection.unexpected(type, "read a picture")
            }
        }
    }

    private func take(_ connection: PluginConnection, _ context: SourceContext) throws(InletError) -> SourceItem {
        let item = try connection.read(inlet_wire_item.self)
        let made: SourceItem
        do throws(PluginLie) {
            made =
                if item.is_packet == 0 {
                    try frame(item)
                } else if own == nil {
                    try packet(item, connection, context)
                } else {
                    try packetBesidePictures(item, connection, context)
                }
        } catch {
            throw connection.rejection(error)
        }
        if let refusal = assembler?.refusal ?? packetAssembler?.refusal { throw refusal }
        if context.interruption != nil { context.endInterruption() }
        return made
    }

    private func frame(_ item: inlet_wire_item) throws(PluginLie) -> SourceItem {
        guard var assembler, !assembler.yieldsPackets else {
            throw PluginLie("sent a picture, but its format is of packets")
        }
        guard item.parameter_sets_length == 0 else {
            throw PluginLie("sent parameter sets of \(item.parameter_sets_length) bytes with a picture")
        }
        let segment = try pool.accept(item.slot, of: item.segment)
        let picture = CheckedItem.Picture(
            format: try names.format(item.pixel_format), size: try WireValues.size(item.width, item.height),
            rotation: try WireValues.rotation(item.rotation), color: try WireValues.color(item.color),
            aspectRatio: try WireValues.ratio(item.sample_aspect_ratio, "sample aspect ratio"))
        let checked = try CheckedItem(
            CheckedItem.Statement(item), after: assembler.sequence, .picture(picture))
        let bytes = unsafe UnsafeRawBufferPointer(segment.bytes(of: Int(item.slot)))
        var planes = try unsafe SlotPlanes.check(item, picture, in: bytes)
        let owner: any AnyObject & Sendable
        if pool.canLend(item.slot, of: segment) {
            owner = SlotLoan(of: segment, slot: Int(item.slot))
        } else {
            let copy = unsafe CopiedPicture(bytes)
            planes = try unsafe SlotPlanes.check(item, picture, in: copy.bytes)
            owner = copy
        }
        let made = assembler.frame(checked, picture, planes, owner: owner)
        self.assembler = assembler
        guard own != nil, case .frame(var frame) = made else { return made }
        frame.receiveTime = Self.receiveTime(item)
        return .frame(frame)
    }

    /// The time when the data had arrived, as the child of a source states it; nil if the child states none or an
    /// impossible one.
    private static func receiveTime(_ item: inlet_wire_item) -> MonotonicTime? {
        let now = MonotonicTime.now
        guard item.deadline > 0, item.deadline <= now.nanoseconds else { return nil }
        return MonotonicTime(nanoseconds: item.deadline)
    }

    /// Makes a packet of a child that yields pictures, too. The first packet, and those with new parameters, contain
    /// the parameters.
    private func packetBesidePictures(
        _ item: inlet_wire_item, _ connection: PluginConnection, _ context: SourceContext
    ) throws(PluginLie) -> SourceItem {
        var trailer = connection.trailer(after: inlet_wire_item.self)
        let (streamLength, extrasLength) = (
            MemoryLayout<inlet_wire_stream>.size, MemoryLayout<SourceStatement.Extras>.size
        )
        if trailer.count >= streamLength + extrasLength {
            let (stream, extras) = unsafe trailer.withUnsafeBytes { bytes in
                unsafe (
                    bytes.loadUnaligned(as: inlet_wire_stream.self),
                    bytes.loadUnaligned(fromByteOffset: streamLength, as: SourceStatement.Extras.self)
                )
            }
            trailer.removeFirst(streamLength + extrasLength)
            let sets = try Self.parameterSets(trailer, item.parameter_sets_length) ?? []
            let checked = try CheckedStream(stream, parameterSets: sets, name: configuration.program.name)
            packetAssembler = ItemAssembler(checked, configuration.decoding.limits)
            packetExtras = extras
        }
        let pictures = assembler
        assembler = packetAssembler
        defer { assembler = pictures }
        let plain = inlet_wire_item(item, parameterSetsLength: 0)
        let made = try packet(plain, connection, context)
        packetAssembler = assembler
        guard case .packet(var packet) = made else { return made }
        packetExtras?.apply(to: &packet.parameters)
        packet.receiveTime = Self.receiveTime(item)
        if packet.isKey { context.noteKeyFrame() }
        return .packet(packet)
    }

    private func packet(
        _ item: inlet_wire_item, _ connection: PluginConnection, _ context: SourceContext
    ) throws(PluginLie) -> SourceItem {
        guard var assembler, assembler.yieldsPackets else {
            throw PluginLie("sent a packet, but its format is of pictures")
        }
        let segment = try pool.accept(item.slot, of: item.segment)
        guard let length = Int(exactly: item.length), (1...segment.slotLength).contains(length) else {
            throw PluginLie("sent a packet of \(item.length) bytes in a slot of \(segment.slotLength)")
        }
        let checked = try CheckedItem(CheckedItem.Statement(item), after: assembler.sequence, .packet(length))
        let sets = try Self.parameterSets(
            item.parameter_sets_length == 0 ? [] : connection.trailer(after: inlet_wire_item.self),
            item.parameter_sets_length)
        let bytes = unsafe UnsafeRawBufferPointer(segment.bytes(of: Int(item.slot)))
        let data = unsafe PacketData(copying: [UnsafeRawBufferPointer(rebasing: bytes[..<length])])
        guard let packet = assembler.packet(checked, data, parameterSets: sets, context) else {
            throw PluginLie("sent a packet, but its format is of pictures")
        }
        self.assembler = assembler
        return packet
    }

    private func followDemand(_ context: SourceContext) {
        defer {
            demand.key_frame_requests = UInt32(truncatingIfNeeded: context.keyFrameRequests &- earlierKeyFrameRequests)
        }
        let version = context.demandVersion
        guard version != demandVersion else { return }
        demandVersion = version
        demand = inlet_demand(context.demand)
    }

    /// Returns the handler of the child's notes.
    private func noteHandler(_ context: SourceContext) -> (PluginNote) throws(PluginLie) -> Void {
        { [unowned self] note throws(PluginLie) in
            switch note {
            case .progress: context.reportProgress()
            case .drop(let reason, let count):
                guard dropReasons.contains(reason) || dropReasons.count < Self.mostDropReasons else {
                    throw PluginLie("counted drops for more than \(Self.mostDropReasons) reasons")
                }
                dropReasons.insert(reason)
                context.countDrop(reason, count)
            case .interruption(let reason): context.beginInterruption(reason)
            case .interruptionEnd: context.endInterruption()
            case .keyFrame: throw PluginLie("requested a key frame, which only a sink may do")
            case .log: break
            case .report(let report):
                guard own != nil else { throw PluginLie("sent a report, which is Inlet's own") }
                take(report, context)
            }
        }
    }

    private func take(_ report: SourceReport, _ context: SourceContext) {
        switch report {
        case .detection(let detection): context.noteDetection(detection)
        case .lag(let isLagging): context.noteLag(isLagging)
        case .decoderFailure(let name, let code, let message, let next):
            context.noteDecoderFailure(of: name, InletError(code, message), next: next)
        case .reception(let figures): context.reportReception(figures)
        case .transportChange(let reason): context.noteTransportChange(reason)
        }
    }

    func pause(_ context: SourceContext) throws -> Bool {
        guard canPause else { return false }
        return try change(INLET_MESSAGE_PAUSE, "pause", context)
    }

    func resume(_ context: SourceContext) throws {
        guard try change(INLET_MESSAGE_RESUME, "continue after a pause", context) else {
            throw InletError(
                .unsupported, "The \(own?.noun ?? configuration.program.noun) cannot continue after a pause.")
        }
    }

    /// - Returns: whether the plug-in can do that.
    private func change(_ type: Int, _ operation: String, _ context: SourceContext) throws(InletError) -> Bool {
        guard let connection else { return false }
        let limit = CallLimit(of: context)
        try connection.send(type, due: limit.due)
        let result = try connection.receiveResult(within: limit, to: operation, onNote: noteHandler(context))
        switch Int(result.result) {
        case INLET_OK: return true
        case INLET_ERROR_UNSUPPORTED: return false
        default: throw connection.failure(result, to: operation, isCancelled: context.isCancelled)
        }
    }

    /// Goes on in another environment than that in which it was opened.
    func move(to context: SourceContext) {
        self.context = context
        demandVersion = -1
        earlierKeyFrameRequests = context.keyFrameRequests &- Int(demand.key_frame_requests)
    }

    func close() {
        if let context { connection?.close(onNote: noteHandler(context)) }
        if let connection { own?.figures.noteEnd(connection.processID) }
        connection = nil
        context = nil
        pool.end()
    }
}

extension inlet_wire_item {
    /// Copies an item, with another length of parameter sets.
    fileprivate init(_ item: inlet_wire_item, parameterSetsLength: UInt32) {
        self = item
        parameter_sets_length = parameterSetsLength
    }
}

extension CheckedItem.Statement {
    /// The statement of a child about an item.
    fileprivate init(_ item: inlet_wire_item) {
        self.init(
            isPacket: item.is_packet != 0, flags: item.flags, sequence: item.sequence, pts: item.pts, dts: item.dts,
            duration: item.duration, captureTime: item.capture_time, wallClock: item.wall_clock)
    }
}
