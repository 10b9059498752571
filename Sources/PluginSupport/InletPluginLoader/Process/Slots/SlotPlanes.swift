import CInletPlugin
import InletCore
import InletPluginIPC

// Unsafe: points to checked places in shared memory.
/// Checks where the planes of a picture are, as stated by a plug-in.
///
/// A picture of a format that ``PixelPlane/byFormat`` does not know is checked again by its converter.
enum SlotPlanes {
    /// Checks planes that share one block of memory.
    ///
    /// - Parameters:
    ///   - item: the statement about the picture.
    ///   - picture: the same, checked.
    ///   - memory: the block.
    /// - Returns: the planes, each of which lies within the block.
    static func check(
        _ item: inlet_wire_item, _ picture: CheckedItem.Picture, in memory: UnsafeRawBufferPointer
    ) throws(PluginLie) -> SourcePlanes {
        let kinds = PixelPlane.byFormat[picture.format.name]
        let count = try planeCount(item.plane_count, kinds, picture)
        let places = item.planes
        var planes = SourcePlanes()
        for index in 0..<count {
            let place = index == 0 ? places.0 : index == 1 ? places.1 : index == 2 ? places.2 : places.3
            guard let offset = Int(exactly: place.offset) else { throw outside(index, picture) }
            let plane = unsafe SourcePlane(memory, offset: offset, stride: Int(place.stride))
            try check(plane, index, kinds, picture)
            planes.append(plane)
        }
        return planes
    }

    /// Checks the number of planes, and returns how many are used.
    static func planeCount(
        _ count: UInt32, _ kinds: [PixelPlane]?, _ picture: CheckedItem.Picture
    ) throws(PluginLie) -> Int {
        guard (1...4).contains(count), Int(count) >= kinds?.count ?? 1 else {
            throw PluginLie("sent a picture of \(picture.format) with \(count) planes")
        }
        return kinds?.count ?? Int(count)
    }

    /// Checks that a plane lies within its memory.
    static func check(
        _ plane: SourcePlane, _ index: Int, _ kinds: [PixelPlane]?, _ picture: CheckedItem.Picture
    ) throws(PluginLie) {
        // At least one byte, whatever the format.
        let kind = kinds?[index]
        let rows = kind?.rows(height: picture.size.height) ?? 1
        let rowBytes = kind?.rowBytes(width: picture.size.width) ?? 1
        guard plane.offset >= 0, plane.holds(rows: rows, of: rowBytes) else { throw outside(index, picture) }
    }

    private static func outside(_ index: Int, _ picture: CheckedItem.Picture) -> PluginLie {
        PluginLie(
            "sent a picture of \(picture.size) pixels in \(picture.format), whose plane \(index) lies outside of its "
                + "memory")
    }
}
