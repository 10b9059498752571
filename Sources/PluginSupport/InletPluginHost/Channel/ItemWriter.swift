import CInletPlugin
import InletCore
import InletPluginIPC

// Unsafe: copies pictures and packets of a plug-in into shared memory.
/// Copies an item that `next` yielded into a slot, unless it is already in one, and describes it for Inlet.
@safe struct ItemWriter {
    /// The slots of this call.
    let slots: SlotProvider

    /// The most bytes of parameter sets. A message has room for twice as many.
    static let mostParameterSets: UInt64 = 65536
    /// The most bytes of a packet: more than any real one has.
    private static let longestPacket: UInt64 = 256 << 20
    /// Slots for packets begin at this length and double, as packets differ in length.
    private static let leastPacketSlot = 256 << 10

    /// Returns the answer and the bytes that follow it.
    ///
    /// - Throws: ``PluginFailure`` if the item is inconsistent.
    func write(_ item: inlet_item) throws(PluginFailure) -> (inlet_wire_item, [UInt8]) {
        var answer = inlet_wire_item()
        answer.type = UInt32(INLET_MESSAGE_ITEM)
        unsafe answer.is_packet = item.is_packet
        unsafe answer.flags = item.flags
        unsafe answer.sequence = item.sequence
        unsafe answer.pts = item.pts
        unsafe answer.duration = item.duration
        unsafe answer.capture_time = item.capture_time
        unsafe answer.wall_clock = item.wall_clock
        answer.dts = .min
        var trailer: [UInt8] = []
        switch unsafe item.is_packet {
        case 0: unsafe try write(item.picture, to: &answer)
        case 1: trailer = unsafe try write(item.packet, to: &answer)
        case let other:
            throw PluginFailure(
                "The plug-in's next yields an item whose is_packet is \(other). Set it to 0 or 1.")
        }
        // Asking for a slot may have brought a new segment.
        answer.segment = slots.segment?.number ?? 0
        return (answer, trailer)
    }

    // MARK: Pictures

    private func write(_ picture: inlet_picture, to answer: inout inlet_wire_item) throws(PluginFailure) {
        answer.width = picture.width
        answer.height = picture.height
        answer.rotation = picture.rotation
        answer.pixel_format = picture.pixel_format
        answer.sample_aspect_ratio = picture.sample_aspect_ratio
        answer.color = picture.color
        guard let format = FixedText.text(picture.pixel_format) else {
            throw PluginFailure("The pixel format of the plug-in's picture is not UTF-8.")
        }
        let grant =
            picture.is_in_slot != 0
            ? try granted(picture, format) : try lent(picture, format)
        answer.slot = UInt32(grant.slot)
        answer.plane_count = UInt32(grant.layout.planes.count)
        unsafe withUnsafeMutableBytes(of: &answer.planes) { bytes in
            let places = unsafe bytes.assumingMemoryBound(to: inlet_wire_plane.self)
            for (index, plane) in grant.layout.planes.enumerated() {
                unsafe places[index] = inlet_wire_plane(offset: UInt64(plane.offset), stride: Int64(plane.stride))
            }
        }
    }

    private func granted(_ picture: inlet_picture, _ format: String) throws(PluginFailure) -> SlotProvider.Grant {
        guard let grant = slots.grant, picture.slot == UInt32(grant.slot) else {
            throw PluginFailure(
                "The plug-in's next yields slot \(picture.slot), which get_slot did not return in this call.")
        }
        guard picture.width == grant.width, picture.height == grant.height, format == grant.format else {
            throw PluginFailure(
                "The plug-in's next yields a picture of \(picture.width)x\(picture.height) in '\(format)' in a slot "
                    + "that it got for \(grant.width)x\(grant.height) in '\(grant.format)'.")
        }
        return grant
    }

    /// Copies a picture that the plug-in lends.
    private func lent(_ picture: inlet_picture, _ format: String) throws(PluginFailure) -> SlotProvider.Grant {
        let (width, height) = (picture.width, picture.height)
        let layout: PictureLayout
        do throws(PluginFailure) {
            layout = try slots.layout(format, width: width, height: height)
        } catch {
            throw PluginFailure("The plug-in's next lends a picture that is not possible. " + error.message)
        }
        guard Int(picture.plane_count) == layout.planes.count else {
            throw PluginFailure(
                "The plug-in's next lends a picture in '\(format)' with \(picture.plane_count) planes, and that format "
                    + "has \(layout.planes.count).")
        }
        let planes = unsafe PlaneArray.read(picture.planes, count: layout.planes.count)
        var rows: [SourcePlane] = []
        for index in unsafe planes.indices {
            let plane = unsafe planes[index]
            let wanted = layout.planes[index]
            guard let data = unsafe plane.data, let length = unsafe Int(exactly: plane.length),
                let offset = unsafe Int(exactly: plane.offset), length <= .max / 2
            else { throw Self.outside(index, format, "has no memory") }
            let checked = unsafe SourcePlane(
                UnsafeRawBufferPointer(start: data, count: length), offset: offset, stride: Int(plane.stride))
            guard checked.holds(rows: wanted.rows, of: wanted.rowBytes) else {
                throw Self.outside(index, format, "lies outside of its memory, or its rows overlap")
            }
            rows.append(checked)
        }
        let slot = try slots.slot(holding: layout.length)
        guard let memory = unsafe slots.memory(of: slot)?.baseAddress else {
            throw PluginFailure(INLET_ERROR_INTERNAL, "A slot is missing. Report this.")
        }
        for (plane, wanted) in zip(rows, layout.planes) {
            guard let top = unsafe plane.topRow else { continue }
            let target = unsafe memory + wanted.offset
            if plane.stride == wanted.stride {
                let count = wanted.stride * (wanted.rows - 1) + wanted.rowBytes
                unsafe target.copyMemory(from: top, byteCount: count)
            } else {
                for row in 0..<wanted.rows {
                    unsafe (target + row * wanted.stride).copyMemory(
                        from: top + row * plane.stride, byteCount: wanted.rowBytes)
                }
            }
        }
        return SlotProvider.Grant(slot: slot, format: format, width: width, height: height, layout: layout)
    }

    private static func outside(_ index: Int, _ format: String, _ fault: String) -> PluginFailure {
        PluginFailure(
            "Plane \(index) of the picture in '\(format)' that the plug-in's next lends \(fault): "
                + "offset, stride and length do not hold its rows.")
    }

    // MARK: Packets

    private func write(_ packet: inlet_packet, to answer: inout inlet_wire_item) throws(PluginFailure) -> [UInt8] {
        guard let data = unsafe packet.data, unsafe (1...Self.longestPacket).contains(packet.length) else {
            throw unsafe PluginFailure(
                "The plug-in's next yields a packet of \(packet.length) bytes. A packet has 1 to "
                    + "\(Self.longestPacket >> 20) MiB of data.")
        }
        let parameterSets = unsafe try Self.parameterSets(packet.parameter_sets, packet.parameter_sets_length)
        let length = unsafe Int(packet.length)
        var wanted = Self.leastPacketSlot
        while wanted < length { wanted *= 2 }
        if let segment = slots.segment, segment.slotLength >= length { wanted = length }
        let slot = try slots.slot(holding: wanted)
        unsafe slots.memory(of: slot)?.baseAddress?.copyMemory(from: data, byteCount: length)
        answer.slot = UInt32(slot)
        unsafe answer.length = packet.length
        unsafe answer.dts = packet.dts
        answer.parameter_sets_length = UInt32(parameterSets.count)
        return parameterSets
    }

    /// Copies parameter sets.
    static func parameterSets(_ bytes: UnsafePointer<UInt8>?, _ length: UInt64) throws(PluginFailure) -> [UInt8] {
        guard length > 0 else { return [] }
        guard let bytes = unsafe bytes, length <= mostParameterSets else {
            throw PluginFailure(
                "The plug-in gives \(length) bytes of parameter sets. They have at most \(mostParameterSets) bytes, "
                    + "and their pointer is not null.")
        }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(length)))
    }
}
