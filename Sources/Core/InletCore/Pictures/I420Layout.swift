/// The layout of a picture in one block of memory: Y, U, V one after another, rows and planes aligned.
struct I420Layout: Sendable, Hashable {
    /// The alignment of rows and planes, in bytes.
    static let alignment = 64

    let size: ImageSize
    let strides: I420Buffer.Strides
    let uOffset: Int
    let vOffset: Int
    let byteCount: Int

    init(size: ImageSize) {
        func aligned(_ count: Int) -> Int { (count + Self.alignment - 1) / Self.alignment * Self.alignment }
        let chromaStride = aligned(size.chroma.width)
        self.size = size
        strides = I420Buffer.Strides(y: aligned(size.width), u: chromaStride, v: chromaStride)
        uOffset = strides.y * size.height
        vOffset = uOffset + chromaStride * size.chroma.height
        byteCount = vOffset + chromaStride * size.chroma.height
    }

    func offset(of plane: I420Buffer.Plane) -> Int {
        switch plane {
        case .y: 0
        case .u: uOffset
        case .v: vOffset
        }
    }
}
