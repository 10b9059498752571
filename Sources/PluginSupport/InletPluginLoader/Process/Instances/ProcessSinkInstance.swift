import CInletPlugin
import InletCore
import InletPluginIPC
import InletSystem
import Logging

// Unsafe: copies pictures and packets into shared memory.
/// An instance of a sink in a separate process. Each picture is copied once, into memory that the child reads.
final class ProcessSinkInstance: SinkInstance {
    let wants: inlet_sink_wants
    private let configuration: PluginSinkConfiguration
    private let connection: PluginConnection
    private var segment: SharedSegment?
    private var wantsKeyFrame = false

    /// Starts the child and makes the instance.
    init(_ configuration: PluginSinkConfiguration) throws(InletError) {
        self.configuration = configuration
        let logger = Logger(label: "inlet.plugin")
        connection = try PluginConnection(to: configuration.program, logger: logger)
        let limit = CallLimit(until: .now + configuration.timeout)
        try connection.sendCreate(
            kind: INLET_KIND_SINK, scheme: configuration.scheme, address: configuration.address,
            options: configuration.options)
        let result = try connection.receiveResult(within: limit, to: "start") { note throws(PluginLie) in
            if note != .progress { throw PluginLie("sent a note of a source") }
        }
        guard result.result == INLET_OK else {
            throw connection.failure(result, to: "start", isCancelled: false)
        }
        wants = result.wants
    }

    func takeKeyFrameRequest() -> Bool {
        defer { wantsKeyFrame = false }
        return wantsKeyFrame
    }

    func start(_ stream: inlet_wire_stream, parameterSets: [UInt8]) throws(InletError) {
        let limit = CallLimit(until: .now + configuration.timeout)
        var stream = stream
        stream.type = UInt32(INLET_MESSAGE_START)
        stream.deadline = limit.due
        try connection.send(stream, parameterSets)
        _ = try answer(within: limit, to: "start the stream")
    }

    func consume(_ item: SinkItem) throws(InletError) -> Bool {
        let limit = CallLimit(until: .now + configuration.timeout)
        var message = inlet_wire_item()
        message.type = UInt32(INLET_MESSAGE_CONSUME)
        message.flags = item.flags
        message.sequence = item.sequence
        message.pts = item.pts
        message.dts = item.dts
        message.duration = item.duration
        message.capture_time = item.captureTime
        message.wall_clock = item.wallClock
        message.rotation = UInt32(item.rotation.rawValue)
        message.sample_aspect_ratio = WireValues.ratio(item.aspectRatio)
        message.color = WireValues.color(item.color)
        message.deadline = limit.due
        switch item.content {
        case .picture(let picture): try put(picture, in: &message)
        case .packet(let data):
            message.is_packet = 1
            message.length = UInt64(data.count)
            let segment = try segment(holding: data.count)
            let (memory, owner) = unsafe data.storage
            unsafe segment.bytes(of: 0).copyMemory(from: memory)
            withExtendedLifetime(owner) {}
        }
        message.segment = segment?.number ?? 0
        try connection.send(message)
        return try answer(within: limit, to: "take a picture or packet") == INLET_OK
    }

    /// Copies a picture, and records its location.
    private func put(_ picture: I420Buffer, in message: inout inlet_wire_item) throws(InletError) {
        guard
            let layout = PictureLayout(
                "yuv420p", width: UInt32(picture.size.width), height: UInt32(picture.size.height))
        else {
            throw InletError(
                .unsupported,
                "A plug-in takes pictures of at most \(PictureLayout.largestSide) pixels in width and height. "
                    + "Have them scaled down.")
        }
        let segment = try segment(holding: layout.length)
        message.width = UInt32(picture.size.width)
        message.height = UInt32(picture.size.height)
        FixedText.write("yuv420p", to: &message.pixel_format)
        message.plane_count = 3
        let places = layout.planes.map { inlet_wire_plane(offset: UInt64($0.offset), stride: Int64($0.stride)) }
        (message.planes.0, message.planes.1, message.planes.2) = (places[0], places[1], places[2])
        let memory = unsafe segment.bytes(of: 0)
        for plane in I420Buffer.Plane.allCases {
            let place = layout.planes[plane.rawValue]
            let (source, stride) = unsafe (picture.baseAddress(of: plane), picture.strides[plane])
            for row in 0..<place.rows {
                let target = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: memory[(place.offset + row * place.stride)...])
                unsafe target.copyMemory(
                    from: UnsafeRawBufferPointer(start: source + row * stride, count: place.rowBytes))
            }
        }
        withExtendedLifetime(picture) {}
    }

    /// Returns a segment whose one slot has at least a length, and sends it to the child if it is new.
    private func segment(holding length: Int) throws(InletError) -> SharedSegment {
        if let segment, segment.slotLength >= length { return segment }
        guard length <= configuration.program.segmentLimit else {
            throw InletError(
                .resourceExhausted,
                "A picture or packet of \(length) bytes is more than the plug-in \(configuration.program.name) may "
                    + "share with Inlet. Have it scaled down.")
        }
        // A quarter more, so that growing packets do not need a new segment each.
        let wanted = min(configuration.program.segmentLimit, length + length / 4)
        let alignment = SharedSegment.alignment
        let slotLength = (wanted + alignment - 1) / alignment * alignment
        let number = (segment?.number ?? 0) + 1
        let made = try SharedSegment(number: number, slotLength: slotLength, slotCount: 1, isWritable: true) {
            descriptor throws(InletError) in
            try connection.send(
                inlet_segment(
                    type: UInt32(INLET_MESSAGE_SEGMENT), number: number, slot_length: UInt64(slotLength),
                    slot_count: 1, reserved: 0), descriptor: descriptor)
        }
        segment = made
        return made
    }

    private func answer(within limit: CallLimit, to operation: String) throws(InletError) -> Int {
        let result = try connection.receiveResult(within: limit, to: operation) { note throws(PluginLie) in
            switch note {
            case .keyFrame: wantsKeyFrame = true
            case .progress: break
            default: throw PluginLie("sent a note of a source")
            }
        }
        guard result.result == INLET_OK || result.result == INLET_END else {
            throw connection.failure(result, to: operation, isCancelled: false)
        }
        return Int(result.result)
    }

    func finish() throws(InletError) {
        let isDone = connection.close(within: configuration.finish)
        segment = nil
        guard !isDone else { return }
        throw InletError(
            .inputOutput,
            "The plug-in \(configuration.program.name) did not finish what it was given within "
                + "\(configuration.finish), or ended before. The end of its output may be missing.")
    }
}
