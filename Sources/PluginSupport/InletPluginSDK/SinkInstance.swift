import CInletPlugin
import InletCore
import InletPluginIPC

// Unsafe: reads items and pictures that the host lends.
/// One instance of a sink, as the host calls it: one function at a time, on the host's own thread.
@safe final class SinkInstance {
    private enum Sink {
        case pictures(any FrameSink)
        case packets(any PacketSink)
    }

    private let sink: Sink
    private let host: inlet_sink_host
    private var isStarted = false
    private var timeBase = Rational(1)
    private var parameters: CodecParameters?
    /// Whether packets are left out up to the next key frame, because the sink did not accept one.
    private var awaitsKeyFrame = false
    /// Pictures that the sink keeps have separate memory, because the host's is lent for a call.
    private let pool = I420BufferPool(capacity: mostPictures)

    /// The number of pictures that a sink may keep.
    private static let mostPictures = 32

    /// Makes the sink: a packet sink if its configuration can make one.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the sink has requirements that `inlet_plugin.h` cannot express.
    init(
        _ configuration: any FrameSinkConfiguration, host: inlet_sink_host, wants: inout inlet_sink_wants
    ) throws(InletError) {
        unsafe self.host = host
        guard let packets = configuration as? any PacketSinkConfiguration else {
            let made = configuration.makeSink()
            sink = .pictures(made)
            try Self.state(made.wants, in: &wants)
            return
        }
        sink = .packets(packets.makePacketSink())
        wants.packets = 1
    }

    private static func state(_ asked: SinkWants, in wants: inout inlet_sink_wants) throws(InletError) {
        guard case .none = asked.crop, asked.size == nil else {
            throw InletError(
                .unsupported,
                "A plug-in's sink cannot ask for a part of the picture, or an exact size. Scale it itself.")
        }
        wants.width = UInt32(clamping: asked.largestSize?.width ?? 0)
        wants.height = UInt32(clamping: asked.largestSize?.height ?? 0)
        wants.frame_rate = inlet_rational(asked.maximumFrameRate)
        wants.keeps_rotation = asked.rotation == .metadata ? 1 : 0
    }

    /// Passes on an item.
    func start(_ stream: inlet_stream) throws {
        timeBase = unsafe stream.time_base.rational ?? Rational(1)
        let facts = try unsafe StreamDescription(stream)
        switch sink {
        case .pictures(let sink):
            // After a change in mid-stream each frame states its own format.
            if !isStarted { try sink.start(facts.format(timeBase: timeBase), SinkContext()) }
        case .packets(let sink):
            let parameters = try unsafe facts.parameters(of: stream, timeBase: timeBase)
            try sink.start(parameters)
            self.parameters = parameters
            awaitsKeyFrame = false
        }
        isStarted = true
    }

    /// Hands an item over.
    ///
    /// - Returns: false if the sink wants no more.
    func consume(_ item: inlet_item) throws -> Bool {
        do {
            switch sink {
            case .pictures(let sink): try unsafe sink.consume(frame(item))
            case .packets(let sink): try unsafe write(item, to: sink)
            }
            return true
        } catch is SinkStopped {
            return false
        }
    }

    private func write(_ item: inlet_item, to sink: any PacketSink) throws {
        guard let bytes = unsafe item.packet.data, let length = unsafe Int(exactly: item.packet.length),
            unsafe item.is_packet != 0
        else { throw InletError(.internal, "The host gives a picture to a sink of packets.") }
        let isKey = unsafe item.flags & UInt32(INLET_FLAG_KEY) != 0
        guard isKey || !awaitsKeyFrame else { return }
        awaitsKeyFrame = false
        func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks == .min ? 0 : ticks, timeBase: timeBase) }
        let packet = unsafe EncodedPacket(
            data: PacketData(copying: [UnsafeRawBufferPointer(start: bytes, count: length)]), pts: time(item.pts),
            dts: time(item.packet.dts), duration: item.duration > 0 ? time(item.duration) : nil, isKey: isKey,
            captureTime: MonotonicTime(nanoseconds: item.capture_time == .min ? 0 : item.capture_time))
        do {
            try sink.write(packet)
        } catch is KeyFrameNeeded {
            awaitsKeyFrame = true
        }
        if awaitsKeyFrame || sink.wantsKeyFrame { unsafe host.request_key_frame?(host.context) }
    }

    private func frame(_ item: inlet_item) throws(InletError) -> VideoFrame {
        let picture = unsafe item.picture
        guard unsafe item.is_packet == 0, FixedText.text(picture.pixel_format) == "yuv420p",
            picture.plane_count == 3, let rotation = Rotation(rawValue: Int(picture.rotation))
        else { throw InletError(.internal, "The host gives a sink of pictures an item that is not a picture in I420.") }
        let size = ImageSize(width: Int(picture.width), height: Int(picture.height))
        var draft = try pool.makeBuffer(size: size)
        let planes = unsafe [picture.planes.0, picture.planes.1, picture.planes.2]
        for plane in I420Buffer.Plane.allCases {
            let extent = I420Buffer.rows(of: plane, in: size)
            let place = unsafe planes[plane.rawValue]
            guard let data = unsafe place.data,
                unsafe SourcePlane(
                    UnsafeRawBufferPointer(start: data, count: Int(clamping: place.length)),
                    offset: Int(clamping: place.offset), stride: Int(place.stride)
                ).holds(rows: extent.height, of: extent.width)
            else { throw InletError(.internal, "The host gives a picture that lies outside of its memory.") }
            let (target, stride) = unsafe (draft.mutableBaseAddress(of: plane), draft.strides[plane])
            let top = unsafe data + Int(place.offset)
            for row in 0..<extent.height {
                unsafe (target + row * stride).update(from: top + row * Int(place.stride), count: extent.width)
            }
        }
        var flags: FrameFlags = []
        for (flag, bit) in [
            (FrameFlags.key, INLET_FLAG_KEY), (.corrupt, INLET_FLAG_CORRUPT),
            (.discontinuity, INLET_FLAG_DISCONTINUITY),
        ] where unsafe item.flags & UInt32(bit) != 0 { flags.insert(flag) }
        let (pts, duration, wallClock) = unsafe (item.pts, item.duration, item.wall_clock)
        return unsafe VideoFrame(
            buffer: draft.publish(), timestamp: MonotonicTime(nanoseconds: max(0, item.capture_time)),
            pts: pts == .min ? nil : MediaTime(ticks: pts, timeBase: timeBase),
            duration: duration > 0 ? MediaTime(ticks: duration, timeBase: timeBase) : nil, sequence: item.sequence,
            colorSpace: ColorSpace(picture.color), rotation: rotation, flags: flags,
            sampleAspectRatio: picture.sample_aspect_ratio.rational, wallClock: wallClock == .min ? nil : wallClock)
    }

    /// Makes the sink write the rest. Called once, after a start.
    func finish() throws {
        guard isStarted else { return }
        isStarted = false
        do {
            switch sink {
            case .pictures(let sink): try sink.finish()
            case .packets(let sink): try sink.finish()
            }
        } catch is SinkStopped {}
    }
}
