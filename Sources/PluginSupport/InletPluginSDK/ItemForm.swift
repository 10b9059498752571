import CInletPlugin
import InletCore

// Unsafe: fills in the host's item struct and lends memory to the host.
/// Fills in items for the host. Only parameter sets are copied: the memory of a frame or packet is lent, and its owner
/// is retained until the host calls `release`.
///
/// A child process copies lent memory once, into memory that it shares with Inlet. A source that draws directly into
/// that memory would save this copy, but the pictures of a ``FrameSource`` are in the source's own memory. In Inlet's
/// own process, lent memory is not copied.
enum ItemForm {
    /// Fills in a picture.
    ///
    /// - Throws: ``InletError/Code/unsupported`` or ``InletError/Code/internal`` for values that cannot be stated.
    static func fill(_ item: inout inlet_item, with frame: SourceFrame, _ stream: StreamFacts) throws(InletError) {
        unsafe item.is_packet = 0
        unsafe item.flags = flags(frame.flags)
        unsafe item.sequence = frame.sequence
        unsafe item.pts = stream.ticks(frame.pts)
        unsafe item.duration = stream.length(frame.duration)
        unsafe item.capture_time = frame.captureTime?.nanoseconds ?? .min
        unsafe item.wall_clock = frame.wallClock ?? .min
        unsafe item.picture.width = UInt32(clamping: frame.size.width)
        unsafe item.picture.height = UInt32(clamping: frame.size.height)
        try unsafe StreamFacts.write(frame.pixelFormat.name, to: &item.picture.pixel_format)
        unsafe item.picture.sample_aspect_ratio = inlet_rational(frame.sampleAspectRatio)
        unsafe item.picture.color = inlet_color(frame.colorSpace)
        unsafe item.picture.rotation = UInt32(frame.rotation.rawValue)
        unsafe item.picture.is_in_slot = 0
        unsafe item.picture.plane_count = UInt32(frame.planes.count)
        unsafe item.picture.planes = (
            plane(frame.planes[0]), plane(frame.planes[1]), plane(frame.planes[2]), plane(frame.planes[3])
        )
        unsafe lend(frame.owner, in: &item)
    }

    /// Fills in a packet.
    ///
    /// - Throws: ``InletError/Code/formatChanged`` if its codec is not that of the stream.
    static func fill(
        _ item: inout inlet_item, with packet: SourcePacket, sequence: UInt64, _ stream: inout StreamFacts
    ) throws(InletError) {
        guard packet.parameters.codec == stream.codec else {
            throw InletError(
                .formatChanged,
                "The stream changes from \(stream.codec?.rawValue ?? "pictures") to \(packet.parameters.codec).")
        }
        unsafe item.is_packet = 1
        unsafe item.flags = flags(packet.flags)
        unsafe item.sequence = sequence
        unsafe item.pts = stream.ticks(packet.pts)
        unsafe item.duration = stream.length(packet.duration)
        unsafe item.capture_time = packet.captureTime?.nanoseconds ?? .min
        unsafe item.wall_clock = packet.wallClock ?? .min
        let (memory, owner) = unsafe packet.data.storage
        unsafe item.packet.data = unsafe memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe item.packet.length = UInt64(memory.count)
        unsafe item.packet.dts = stream.ticks(packet.dts)
        guard packet.parameters.extraData != stream.parameterSets, !packet.parameters.extraData.isEmpty else {
            unsafe lend(owner, in: &item)
            return
        }
        stream.parameterSets = packet.parameters.extraData
        let lent = LentMemory(packet.parameters.extraData, with: owner)
        unsafe item.packet.parameter_sets = UnsafePointer(lent.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe item.packet.parameter_sets_length = UInt64(lent.bytes.count)
        unsafe lend(lent, in: &item)
    }

    private static func lend(_ owner: any AnyObject & Sendable, in item: inout inlet_item) {
        unsafe item.release_data = Unmanaged<AnyObject>.passRetained(owner).toOpaque()
        unsafe item.release = { data in
            guard let data = unsafe data else { return }
            unsafe Unmanaged<AnyObject>.fromOpaque(data).release()
        }
    }

    private static func plane(_ plane: SourcePlane?) -> inlet_plane {
        guard let plane, plane.offset >= 0, let top = unsafe plane.topRow else { return unsafe inlet_plane() }
        return unsafe inlet_plane(
            data: UnsafeMutablePointer(mutating: top - plane.offset), length: UInt64(plane.byteCount),
            offset: UInt64(plane.offset), stride: Int64(plane.stride))
    }

    private static func flags(_ flags: FrameFlags) -> UInt32 {
        bits([
            (flags.contains(.key), INLET_FLAG_KEY), (flags.contains(.corrupt), INLET_FLAG_CORRUPT),
            (flags.contains(.discontinuity), INLET_FLAG_DISCONTINUITY),
        ])
    }

    private static func flags(_ flags: PacketFlags) -> UInt32 {
        bits([
            (flags.contains(.key), INLET_FLAG_KEY), (flags.contains(.loss), INLET_FLAG_LOSS),
            (flags.contains(.discontinuity), INLET_FLAG_DISCONTINUITY),
        ])
    }

    private static func bits(_ flags: [(isSet: Bool, bit: Int)]) -> UInt32 {
        flags.reduce(0) { $0 | ($1.isSet ? UInt32($1.bit) : 0) }
    }
}
