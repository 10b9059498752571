import CInletPlugin

/// An item that a plug-in has lent. It is released with the last reference.
@safe final class TableItem {
    let item: inlet_item

    init(_ item: inlet_item) { unsafe self.item = item }

    deinit { unsafe item.release?(item.release_data) }

    /// The bytes of a packet.
    var packet: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: item.packet.data, count: Int(item.packet.length)))
    }

    /// The parameter sets of a packet.
    var parameterSets: [UInt8] {
        unsafe Array(
            UnsafeBufferPointer(start: item.packet.parameter_sets, count: Int(item.packet.parameter_sets_length)))
    }

    /// Returns the rows of one of the first three planes, without padding.
    func rows(_ count: Int, of width: Int, plane index: Int) -> [UInt8] {
        let planes = unsafe item.picture.planes
        let plane = unsafe index == 0 ? planes.0 : index == 1 ? planes.1 : planes.2
        return (0..<count).flatMap { row in
            let start = unsafe Int(plane.offset) + row * Int(plane.stride)
            return unsafe Array(UnsafeBufferPointer(start: plane.data + start, count: width))
        }
    }
}
