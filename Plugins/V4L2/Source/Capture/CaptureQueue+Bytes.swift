import CV4L2
import InletV4L2

// Unsafe: locates the bytes of a picture in a driver's buffers.
extension CaptureQueue.Filled {
    /// The picture's bytes, one piece for each of the driver's planes.
    @unsafe var bytes: [UnsafeRawBufferPointer] { unsafe pieces(used: true) }

    /// All of the memory, which may exceed the picture.
    @unsafe var whole: [UnsafeRawBufferPointer] { unsafe pieces(used: false) }

    @unsafe private func pieces(used: Bool) -> [UnsafeRawBufferPointer] {
        unsafe buffer.planes.enumerated().map { index, plane in
            let start = min(PlaneValues(facts.data_offset)[index], plane.count)
            let length = PlaneValues(facts.bytesused)[index]
            let end = used && length > start ? min(length, plane.count) : plane.count
            return unsafe UnsafeRawBufferPointer(rebasing: plane[start..<end])
        }
    }
}
