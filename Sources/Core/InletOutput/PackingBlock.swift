package import InletCore

// Unsafe: owns the memory of a packed picture.
/// Memory for removing the padding of pictures, kept from frame to frame.
@safe package final class PackingBlock {
    private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    package init() {}

    deinit { unsafe memory.deallocate() }

    /// A picture's planes without padding: in place, or in the block.
    @safe package struct Planes {
        fileprivate let picture: I420Buffer
        fileprivate let block: UnsafeRawBufferPointer?

        /// Returns one plane. Valid while the picture lives, and until the next call of ``PackingBlock/pack(_:)``.
        @unsafe package func bytes(of plane: I420Buffer.Plane) -> UnsafeRawBufferPointer {
            let rows = I420Buffer.rows(of: plane, in: picture.size)
            let count = rows.width * rows.height
            guard let block = unsafe block else {
                return unsafe UnsafeRawBufferPointer(start: picture.baseAddress(of: plane), count: count)
            }
            let start = PackingBlock.offset(of: plane, in: picture.size)
            return unsafe UnsafeRawBufferPointer(rebasing: block[start..<start + count])
        }
    }

    /// Copies the planes into the block if any of them has padding.
    package func pack(_ picture: I420Buffer) -> Planes {
        let isPadded = I420Buffer.Plane.allCases.contains { plane in
            picture.strides[plane] != I420Buffer.rows(of: plane, in: picture.size).width
        }
        guard isPadded else { return unsafe Planes(picture: picture, block: nil) }
        let size = picture.size
        if unsafe memory.count < size.packedI420ByteCount {
            unsafe memory.deallocate()
            unsafe memory = .allocate(byteCount: size.packedI420ByteCount, alignment: 64)
        }
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: size)
            let start = Self.offset(of: plane, in: size)
            for row in 0..<rows.height {
                let source = unsafe picture.baseAddress(of: plane) + row * picture.strides[plane]
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(start + row * rows.width)...])
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: source, count: rows.width))
            }
        }
        return unsafe Planes(picture: picture, block: UnsafeRawBufferPointer(memory))
    }

    private static func offset(of plane: I420Buffer.Plane, in size: ImageSize) -> Int {
        let chroma = size.chroma.width * size.chroma.height
        return switch plane {
        case .y: 0
        case .u: size.width * size.height
        case .v: size.width * size.height + chroma
        }
    }
}
