import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem

// Unsafe: owns mapped memory.
/// The shared memory in the child of a source, and the writing of pictures and packets to it. Main thread.
@safe final class SourceSlots {
    private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var number: UInt32 = 0
    private var slotLength = 0
    private var slotCount = 0
    /// The slots that Inlet has granted.
    private var freeSlots: UInt64 = 0
    private var latest: (format: String, size: ImageSize, layout: PictureLayout)?

    /// Slots for packets begin at this length and double, because packets differ in length.
    private static let leastPacketSlot = 256 << 10
    private static let longestPacket = 256 << 20

    deinit { if unsafe memory.count > 0 { unsafe munmap(memory.baseAddress, memory.count) } }

    /// Records which slots of the newest segment may be written to.
    func grant(_ slots: UInt64) { freeSlots = slots }

    /// Maps a segment, and replaces the previous one.
    ///
    /// - Parameter descriptor: the segment's memory, which the caller still owns.
    func adopt(_ message: inlet_segment, descriptor: Int32) throws(InletError) {
        if unsafe memory.count > 0 { unsafe munmap(memory.baseAddress, memory.count) }
        unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        (number, slotLength, slotCount, freeSlots) = (0, 0, 0, 0)
        guard let length = Int(exactly: message.slot_length), (1...64).contains(message.slot_count), length > 0,
            length <= .max / 64, descriptor >= 0
        else { throw InletError(.internal, "The shared memory does not match Inlet's message. Report this.") }
        let total = length * Int(message.slot_count)
        let start = unsafe mmap(nil, total, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            throw InletError(
                .resourceExhausted, "There is no room for \(total >> 20) MiB of pictures.",
                context: .init(operation: "mmap", nativeCode: errno))
        }
        unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: total)
        (number, slotLength, slotCount) = (message.number, length, Int(message.slot_count))
        freeSlots = slotCount == 64 ? .max : (1 << UInt64(slotCount)) - 1
    }

    /// Copies a picture, and describes its location.
    ///
    /// - Parameter request: requests slots of a length from Inlet, and calls ``adopt(_:descriptor:)``.
    func write(
        _ frame: SourceFrame, to item: inout inlet_wire_item, request: (Int) throws(InletError) -> Void
    ) throws(InletError) {
        let format = frame.pixelFormat.name
        let layout = try layout(format, frame.size)
        for (index, plane) in layout.planes.enumerated() {
            guard let source = frame.planes[index], source.holds(rows: plane.rows, of: plane.rowBytes) else {
                throw InletError(
                    .internal, "Plane \(index) of a picture in '\(format)' is missing or too short. Report this.")
            }
        }
        let slot = try slot(holding: layout.length, request)
        let target = unsafe bytes(of: slot)
        for (index, plane) in layout.planes.enumerated() {
            guard let source = frame.planes[index], let top = unsafe source.topRow,
                let start = target.baseAddress
            else { continue }
            if source.stride == plane.stride {
                let count = plane.stride * (plane.rows - 1) + plane.rowBytes
                unsafe (start + plane.offset).copyMemory(from: top, byteCount: count)
            } else {
                for row in 0..<plane.rows {
                    unsafe (start + plane.offset + row * plane.stride).copyMemory(
                        from: top + row * source.stride, byteCount: plane.rowBytes)
                }
            }
        }
        item.slot = UInt32(slot)
        item.segment = number
        item.plane_count = UInt32(layout.planes.count)
        unsafe withUnsafeMutableBytes(of: &item.planes) { bytes in
            let places = unsafe bytes.assumingMemoryBound(to: inlet_wire_plane.self)
            for (index, plane) in layout.planes.enumerated() {
                unsafe places[index] = inlet_wire_plane(offset: UInt64(plane.offset), stride: Int64(plane.stride))
            }
        }
    }

    /// Copies a packet, and describes its location.
    func write(
        _ packet: SourcePacket, to item: inout inlet_wire_item, request: (Int) throws(InletError) -> Void
    ) throws(InletError) {
        let (data, owner) = unsafe packet.data.storage
        defer { withExtendedLifetime(owner) {} }
        let length = data.count
        guard (1...Self.longestPacket).contains(length) else {
            throw InletError(.malformedData, "A packet has \(length) bytes. It has 1 to 256 MiB.")
        }
        var wanted = Self.leastPacketSlot
        while wanted < length { wanted *= 2 }
        let slot = try slot(holding: slotLength >= length ? length : wanted, request)
        unsafe bytes(of: slot).copyMemory(from: data)
        item.slot = UInt32(slot)
        item.segment = number
        item.length = UInt64(length)
    }

    private func layout(_ format: String, _ size: ImageSize) throws(InletError) -> PictureLayout {
        if let latest, latest.format == format, latest.size == size { return latest.layout }
        guard
            let layout = PictureLayout(
                format, width: UInt32(clamping: size.width), height: UInt32(clamping: size.height))
        else {
            throw InletError(
                .unsupported,
                "A picture of \(size) in '\(format)' cannot be handed to another process. Leave out 'process: own' for "
                    + "this source.")
        }
        latest = (format, size, layout)
        return layout
    }

    private func slot(holding length: Int, _ request: (Int) throws(InletError) -> Void) throws(InletError) -> Int {
        if slotLength < length {
            let unit = Int(INLET_SLOT_ALIGNMENT)
            try request((length + unit - 1) / unit * unit)
            guard slotLength >= length else {
                throw InletError(.internal, "Inlet provided shorter slots than requested. Report this.")
            }
        }
        guard freeSlots != 0, freeSlots.trailingZeroBitCount < slotCount else {
            throw InletError(
                .resourceExhausted, "All memory for pictures is in use. Let sinks hold fewer pictures.")
        }
        return freeSlots.trailingZeroBitCount
    }

    private func bytes(of slot: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[slot * slotLength..<(slot + 1) * slotLength])
    }
}
