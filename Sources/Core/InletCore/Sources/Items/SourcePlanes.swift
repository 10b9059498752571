// Unsafe: hands out the planes of a picture.
/// The planes of a native picture, at most four, without an array on the heap.
public struct SourcePlanes: Sendable {
    /// The number of planes.
    public private(set) var count = 0
    private var slots: (SourcePlane?, SourcePlane?, SourcePlane?, SourcePlane?) = (nil, nil, nil, nil)

    /// Makes a list without planes.
    public init() {}

    /// Adds a plane; a fifth is ignored, because no pixel format has one.
    public mutating func append(_ plane: SourcePlane) {
        switch count {
        case 0: slots.0 = plane
        case 1: slots.1 = plane
        case 2: slots.2 = plane
        case 3: slots.3 = plane
        default: return
        }
        count += 1
    }

    /// The plane with the given number, or nil if the picture has no such plane.
    public subscript(index: Int) -> SourcePlane? {
        switch index {
        case 0: slots.0
        case 1: slots.1
        case 2: slots.2
        case 3: slots.3
        default: nil
        }
    }

    /// Makes the three planes of an I420 buffer.
    public init(_ buffer: I420Buffer) {
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: buffer.size)
            let stride = buffer.strides[plane]
            let count = stride * (rows.height - 1) + rows.width
            unsafe append(
                SourcePlane(
                    UnsafeRawBufferPointer(start: buffer.baseAddress(of: plane), count: count), stride: stride))
        }
    }
}
