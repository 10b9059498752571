import CInletPlugin

// Unsafe: reads and writes fixed-size C arrays of planes.
/// The arrays of four planes in C structs, which Swift takes for tuples.
@safe enum PlaneArray {
    /// A tuple of four planes.
    typealias Storage = (inlet_plane, inlet_plane, inlet_plane, inlet_plane)

    /// Writes up to four planes.
    static func write(to storage: inout Storage, _ planes: [inlet_plane]) {
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let places = unsafe bytes.assumingMemoryBound(to: inlet_plane.self)
            for index in unsafe 0..<min(places.count, planes.count) { unsafe places[index] = planes[index] }
        }
    }

    /// Returns the first planes. At most four.
    static func read(_ storage: Storage, count: Int) -> [inlet_plane] {
        unsafe withUnsafeBytes(of: storage) { bytes in
            unsafe Array(bytes.assumingMemoryBound(to: inlet_plane.self).prefix(count))
        }
    }
}
