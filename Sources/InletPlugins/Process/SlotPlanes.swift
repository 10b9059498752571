import CInletPlugin
import InletCore

/// Checks where a plug-in says that the planes of a picture lie.
enum SlotPlanes {
    /// Checks planes in one block of memory.
    ///
    /// - Parameters:
    ///   - item: the picture.
    ///   - memory: the memory that holds all of them.
    /// - Returns: the planes, each of which lies within the memory as far as the format is known here.
    static func check(
        _ item: inlet_wire_item, _ picture: CheckedItem.Picture, in memory: UnsafeRawBufferPointer
    ) throws(PluginLie) -> SourcePlanes {
        let count = try planeCount(item.plane_count, picture)
        let extents = PlaneExtents.planes(of: picture.format, size: picture.size)
        var planes = SourcePlanes()
        for index in 0..<count {
            let place =
                index == 0 ? item.planes.0 : index == 1 ? item.planes.1 : index == 2 ? item.planes.2 : item.planes.3
            guard let offset = Int(exactly: place.offset), offset < memory.count else {
                throw Self.outside(index, picture)
            }
            let plane = unsafe SourcePlane(memory, offset: offset, stride: Int(place.stride))
            try check(plane, index, extents, picture)
            planes.append(plane)
        }
        return planes
    }

    /// Checks how many planes there are.
    static func planeCount(_ count: UInt32, _ picture: CheckedItem.Picture) throws(PluginLie) -> Int {
        let expected = PlaneExtents.planes(of: picture.format, size: picture.size)?.count
        guard (1...4).contains(count), expected == nil || Int(count) >= expected ?? 0 else {
            throw PluginLie("sent a picture of \(picture.format) with \(count) planes")
        }
        return expected ?? Int(count)
    }

    /// Checks one plane.
    static func check(
        _ plane: SourcePlane, _ index: Int, _ extents: PlaneExtents.Planes?, _ picture: CheckedItem.Picture
    ) throws(PluginLie) {
        // At least a byte a row is there, whatever the format.
        let rows = extents?[index] ?? ImageSize(width: 1, height: 1)
        guard plane.holds(rows: rows.height, of: rows.width) else { throw outside(index, picture) }
    }

    /// The lie about a plane.
    static func outside(_ index: Int, _ picture: CheckedItem.Picture) -> PluginLie {
        PluginLie(
            "sent a picture of \(picture.size) pixels in \(picture.format) whose plane \(index) lies outside of its memory"
        )
    }
}
